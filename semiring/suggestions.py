"""What callers may mean by a name that the package does not have: by meaning first, then by letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

# By a name in use elsewhere: what does that here. Public names stand behind `sr.`, which a test looks up.
MEANT = {
    "sr.closure(A, sr.min_plus), or another algebra": (
        "floyd_warshall floyd all_pairs apsp johnson distances kleene_star kleene algebraic_path "
        "floyd_warshall_numpy all_pairs_dijkstra_path_length all_pairs_bellman_ford_path_length "
        "all_pairs_shortest_path_length digraph_floyd_warshall digraph_floyd_warshall_numpy "
        "all_pairs_dijkstra_path_lengths digraph_all_pairs_dijkstra_path_lengths"),
    "sr.paths(A, sr.min_plus), all best paths as one object": (
        "all_pairs_shortest_path all_shortest_paths shortest_paths all_paths predecessors next_hops routes predecessor "
        "all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_bellman_ford_path get_all_shortest_paths "
        "digraph_all_pairs_dijkstra_shortest_paths all_pairs_dijkstra_shortest_paths"),
    "sr.closure_rows(A, sr.min_plus, sources, targets=…), a table by name": (
        "distance_matrix many_to_many origin_destination od_matrix cost_matrix table"),
    "sr.closure_rows(A, sr.min_plus, sources, limit=…), or sr.paths with a limit": (
        "isochrone isochrones service_area within_distance ego_graph reachable_within cutoff"),
    "sr.nearest": "voronoi voronoi_cells multi_source closest nearest_place",
    "sr.path(A, sr.min_plus, source, target), or sr.closure_rows for the distances from a source": (
        "shortest_path best_path dijkstra bellman_ford bellman astar_path single_source shortest_path_length distance "
        "shortest_distance get_shortest_path get_shortest_paths sssp single_source_dijkstra dijkstra_path "
        "dijkstra_path_length dijkstra_shortest_path dijkstra_shortest_paths dijkstra_search shortest_path_tree "
        "single_source_dijkstra_path_length bellman_ford_path single_source_shortest_path "
        "astar_shortest_path digraph_dijkstra_shortest_paths"),
    "sr.path(A, sr.viterbi, source, target), and sr.solve(A, B, sr.log) for sums over all walks": (
        "viterbi_path viterbi_decode most_likely_path most_reliable_path forward_backward forward_algorithm"),
    "sr.closure(A, sr.min_plus), whose NoClosureError names a negative cycle, or over sr.max_times an arbitrage": (
        "negative_cycle find_negative_cycle negative_edge_cycle has_negative_cycle arbitrage find_arbitrage"),
    "NetworkX's functions with backend=\"semiring\", such as nx.closeness_centrality(G, backend=\"semiring\")": (
        "closeness closeness_centrality harmonic_centrality betweenness betweenness_centrality global_efficiency "
        "barycenter"),
    "sr.solve(A, b, sr.plus_times), with A scaled by the damping or by alpha": (
        "pagerank katz katz_centrality hitting_time absorption fundamental_matrix"),
    "scipy.sparse.csgraph.minimum_spanning_tree; the widths of its paths are sr.closure(A, sr.min_max)": (
        "minimum_spanning_tree mst single_linkage"),
    "sr.matmul, of two matrices or of stacks of them, or sr.chain of several": "einsum tensordot multi_dot",
    "sr.matmul(A, ones, S), where ones is a column of S.one: the ⊕ of each row": "reduce sum row_sum reduce_rows",
    "sr.letter and the operations of sr.regex, for texts are not parsed; sr.read_graph reads files": (
        "parse parse_regex from_regex compile_regex"),
    "semiring.csgraph.breadth_first_order, or sr.reach to ask which vertices a vertex reaches": (
        "bfs bfs_tree breadth_first_search breadth_first_order"),
    "sr.path(A, sr.max_min, source, target), or sr.closure(A, sr.max_min)": (
        "widest_path bottleneck widest_paths widest"),
    "semiring.csgraph.yen(csgraph, source, sink, K) for the lengths of the k shortest paths without cycles; "
    "sr.closure(A, sr.k_best(3)) has the three best walks, which may go back and forth": (
        "k_shortest k_shortest_paths k_shortest_path k_best_paths k_best_path get_k_shortest_paths "
        "shortest_simple_paths all_simple_paths simple_paths yen yens yen_k_shortest yen_ksp ksp k_paths eppstein "
        "k_shortest_path_length k_shortest_paths_lengths k_shortest_simple_paths"),
    "sr.closure(A, sr.boolean), or sr.reach to ask which vertices a vertex reaches": (
        "transitive_closure transitive_closure_dag reachability_matrix reachability reachable descendants ancestors "
        "has_path warshall"),
    "sr.closure of a matrix, and S.star(x), such as sr.min_plus.star(x), of elements": "star asteration",
    "S.eye(n), such as sr.min_plus.eye(3)": "eye identity one ones",
    "A ** k, where A is a sr.Matrix, or sr.power(A, S, k)": "matrix_power mpow pow",
    "A | B, where A is a sr.Matrix, and S.add(x, y) of elements": "add union ewise_add plus",
    "A @ B, where A is a sr.Matrix, or sr.matmul(A, B, S)": (
        "mxm mxv vxm dot multiply mul product mm spgemm spmm min_plus_matmul tropical_matmul"),
    "sr.as_graph or sr.adjacency, which read NetworkX, SciPy and data frames, as every verb does": (
        "from_networkx from_scipy from_pandas from_polars from_edges from_edgelist from_graph from_sparse"),
    "A.T, where A is a sr.Matrix, and sr.Graph.reverse": "transpose reverse",
    "sr.Matrix.to_networkx": "to_networkx",
    "sr.Matrix.to_numpy": "to_numpy to_array toarray todense",
    "sr.Matrix.to_frame": "to_frame to_pandas to_polars",
    "sr.Matrix.to_sparse": "to_sparse to_scipy to_csr",
    "sr.components, of strong connection unless weak=True": (
        "connected_components strongly_connected_components weakly_connected_components scc connected "
        "connected_component number_connected_components"),
    "sr.longest_path": "dag_longest_path dag_longest_path_length critical_path critical longest",
    "sr.mean_weight, of a sample of rows, or sr.factor(A, S).reduce(\"mean\")": (
        "average_shortest_path_length mean_distance average_path_length wiener_index characteristic_path_length"),
    "sr.eccentricities": "eccentricity periphery center centre",
    "sr.cycle_mean": "eigenvalue max_cycle_mean min_cycle_mean minimum_cycle_mean minimum_mean_cycle karp howard",
    "sr.cycle_mean for the eigenvalue; sr.closure(A − λ) has an eigenvector in the column of a critical vertex": (
        "eigenvector eigenvectors"),
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
    together = plain.replace("_", "")  # as names are written in other languages
    meant = [plain] if plain in by_name else [known for known in by_name if known.replace("_", "") == together]
    if meant:
        return f"; use {by_name[meant[0]]}"
    near = get_close_matches(name, known, 1, NEAR) or get_close_matches(plain, [k.lower() for k in known], 1, NEAR)
    if near:
        return f"; did you mean {before}{next(k for k in known if k.lower() == near[0].lower())}?"
    meant = get_close_matches(plain, by_name, 1, cutoff=0.8)
    return f"; use {by_name[meant[0]]}" if meant else ""
