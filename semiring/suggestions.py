"""What callers may mean by a name that the package does not have: by meaning first, then by letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

# By a name in use elsewhere: what does that here. Public names stand behind `sr.`, which a test looks up.
MEANT = {
    "sr.closure(A, sr.min_plus), or another algebra": (
        "floyd_warshall floyd all_pairs apsp johnson distances kleene_star kleene algebraic_path"),
    "sr.paths(A, sr.min_plus), all best paths as one object": (
        "all_pairs_shortest_path all_shortest_paths shortest_paths all_paths predecessors next_hops routes"),
    "sr.closure_rows(A, sr.min_plus, sources, targets=…), a table by name": (
        "distance_matrix many_to_many origin_destination od_matrix cost_matrix table"),
    "sr.closure_rows(A, sr.min_plus, sources, limit=…), or sr.paths with a limit": (
        "isochrone isochrones service_area within_distance ego_graph reachable_within cutoff"),
    "sr.nearest": "voronoi voronoi_cells multi_source closest nearest_place",
    "sr.path(A, sr.min_plus, source, target), or sr.closure_rows for the distances from a source": (
        "shortest_path best_path dijkstra bellman_ford bellman astar_path single_source shortest_path_length distance"),
    "sr.path(A, sr.max_min, source, target), or sr.closure(A, sr.max_min)": (
        "widest_path bottleneck widest_paths widest"),
    "sr.closure(A, sr.k_best(3)), the three best weights": "k_shortest k_shortest_paths shortest_simple_paths yen",
    "sr.closure(A, sr.boolean), or sr.reach to ask which vertices a vertex reaches": (
        "transitive_closure reachability reachable descendants ancestors has_path warshall"),
    "sr.closure of a matrix, and S.star(x), such as sr.min_plus.star(x), of elements": "star asteration",
    "S.eye(n), such as sr.min_plus.eye(3)": "eye identity one ones",
    "A ** k, where A is a sr.Matrix, or sr.power(A, S, k)": "matrix_power mpow pow",
    "A | B, where A is a sr.Matrix, and S.add(x, y) of elements": "add union ewise_add plus",
    "A @ B, where A is a sr.Matrix, or sr.matmul(A, B, S)": "mxm mxv vxm dot multiply mul product mm spgemm spmm",
    "sr.as_graph or sr.adjacency, which read NetworkX, SciPy and data frames, as every verb does": (
        "from_networkx from_scipy from_pandas from_polars from_edges from_edgelist from_graph from_sparse"),
    "A.T, where A is a sr.Matrix, and sr.Graph.reverse": "transpose reverse",
    "sr.Matrix.to_networkx": "to_networkx",
    "sr.Matrix.to_numpy": "to_numpy to_array toarray todense",
    "sr.Matrix.to_frame": "to_frame to_pandas to_polars",
    "sr.Matrix.to_sparse": "to_sparse to_scipy to_csr",
    "sr.components, of strong connection unless weak=True": (
        "connected_components strongly_connected_components weakly_connected_components scc"),
    "sr.longest_path": "dag_longest_path critical_path critical longest",
    "sr.mean_weight, of a sample of rows, or sr.factor(A, S).reduce(\"mean\")": (
        "average_shortest_path_length mean_distance average_path_length wiener_index characteristic_path_length"),
    "sr.eccentricities": "eccentricity periphery center centre",
    "sr.cycle_mean": "eigenvalue max_cycle_mean karp howard",
    "sr.find_cycle": "has_cycle is_acyclic is_dag simple_cycles",
    "sr.topological_order": "topological_sort toposort",
    "sr.factor, whose factors solve equations": "lu lu_factor splu inverse inv decompose",
    "sr.solve": "spsolve linsolve lstsq",
    "sr.read_graph": "read load open read_edges read_edgelist read_csv loadtxt",
    "sr.write_matrix": "write save to_csv savetxt",
    "sr.catalogue, a dict of all algebras": "algebras semirings list_semirings names",
    "sr.min_plus": "tropical minplus distance_semiring",
    "sr.max_min": "maxmin fuzzy",
    "sr.max_plus": "maxplus arctic",
    "sr.plus_times": "real arithmetic field",
    "sr.boolean": "bool logical",
    "sr.check_laws": "verify laws check test_laws",
    "sr.plan": "explain cost",
}
NEAR = 0.7  # of letters that two names share, so that "trace" does not lead to "reach"
BY_NAME = {name: meant for meant, names in MEANT.items() for name in names.split()}


def suggestion(name: str, known: Sequence[str], by_name: Mapping[str, str] = BY_NAME, before: str = "") -> str:
    """The end of a message about an unknown name; empty where nothing is near.

    Parameters
    ----------
    name : str
    known : sequence of str
        The names that there are.
    by_name : mapping of str to str, optional
        What names in use elsewhere mean here.
    before : str
        What is written before known names.

    >>> suggestion("eye", ["closure"]), suggestion("closur", ["closure"]), suggestion("qqq", ["closure"])
    ('; use S.eye(n), such as sr.min_plus.eye(3)', '; did you mean closure?', '')
    """
    plain = name.strip("_").lower()
    if plain in by_name:
        return f"; use {by_name[plain]}"
    near = get_close_matches(name, known, 1, NEAR) or get_close_matches(plain, [k.lower() for k in known], 1, NEAR)
    if near:
        return f"; did you mean {before}{next(k for k in known if k.lower() == near[0].lower())}?"
    meant = get_close_matches(plain, by_name, 1, cutoff=0.8)
    return f"; use {by_name[meant[0]]}" if meant else ""
