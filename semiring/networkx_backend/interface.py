"""The interface that NetworkX calls: functions under its names, conversions, and the choice of calls to accept."""

from __future__ import annotations

from .graph import convert_from_nx as convert_from_nx
from .graph import convert_to_nx as convert_to_nx
from .graph import of_now as _of_now
from .info import FUNCTIONS as _FUNCTIONS
from .measures import average_shortest_path_length as average_shortest_path_length
from .measures import barycenter as barycenter
from .measures import betweenness_centrality as betweenness_centrality
from .measures import center as center
from .measures import closeness_centrality as closeness_centrality
from .measures import diameter as diameter
from .measures import eccentricity as eccentricity
from .measures import global_efficiency as global_efficiency
from .measures import harmonic_centrality as harmonic_centrality
from .measures import katz_centrality_numpy as katz_centrality_numpy
from .measures import periphery as periphery
from .measures import radius as radius
from .measures import wiener_index as wiener_index
from .paths import all_pairs_bellman_ford_path as all_pairs_bellman_ford_path
from .paths import all_pairs_bellman_ford_path_length as all_pairs_bellman_ford_path_length
from .paths import all_pairs_dijkstra as all_pairs_dijkstra
from .paths import all_pairs_dijkstra_path as all_pairs_dijkstra_path
from .paths import all_pairs_dijkstra_path_length as all_pairs_dijkstra_path_length
from .paths import all_pairs_shortest_path as all_pairs_shortest_path
from .paths import all_pairs_shortest_path_length as all_pairs_shortest_path_length
from .paths import floyd_warshall as floyd_warshall
from .paths import floyd_warshall_numpy as floyd_warshall_numpy
from .paths import floyd_warshall_predecessor_and_distance as floyd_warshall_predecessor_and_distance
from .paths import johnson as johnson
from .reachability import ancestors as ancestors
from .reachability import dag_longest_path as dag_longest_path
from .reachability import dag_longest_path_length as dag_longest_path_length
from .reachability import descendants as descendants
from .reachability import transitive_closure as transitive_closure
from .reachability import transitive_closure_dag as transitive_closure_dag
from .reachability import transitive_reduction as transitive_reduction
from .worth import can_run as can_run
from .worth import should_run as should_run

globals().update({_name: _of_now(globals()[_name]) for _name in _FUNCTIONS})
