"""The words by which readers look for a page, or for a section of it."""

from __future__ import annotations

# A page, or a section of it after "#", and its other names. The search knows plurals and words in another order.
WORDS = {
    "index": "install, installation, getting started, quickstart, tutorial, introduction, what is a semiring",
    "course/index": "course, lecture, lessons, textbook, learn, teaching, exercises",
    "course/1-one-graph-many-questions": "algebraic path problem, which algebra, choose a semiring, path algebra",
    "course/2-what-may-be-forgotten": (
        "semiring axioms, semiring laws, distributivity, associativity, idempotent semiring, selective, "
        "optimal substructure, Bellman's principle"),
    "course/3-products-count-walks": (
        "matrix power, adjacency matrix power, count walks, number of walks of length k, Fibonacci, homomorphism, "
        "free semiring, generating function, formal power series"),
    "course/4-what-all-walks-spell": (
        "Kleene star, Kleene's theorem, state elimination, formal language, geometric series, "
        "asteration, closed semiring"),
    "course/5-one-star-three-ways": (
        "Bellman Ford, Floyd Warshall, Gauss Jordan elimination, Gaussian elimination, LU decomposition, fill in, "
        "nested dissection, elimination order, dynamic programming"),
    "course/6-why-blocks-are-faster": (
        "cache, cache miss, blocking, tiling, blocked Floyd Warshall, memory hierarchy, cache oblivious, locality, "
        "loop tiling"),
    "course/7-records": (
        "k best, k shortest walks, tropical gradient, derivative, expectation semiring, lexicographic, records, "
        "tuples, softmin, log sum exp, logsumexp, soft minimum, temperature, automatic differentiation, betweenness"),
    "course/8-when-it-fails": (
        "divergence, no closure exists, singular matrix, infinite loop, debugging, convergence, negative weight "
        "cycle"),
    "course/9-when-dijkstra-is-right": (
        "Dijkstra, Dijkstra's algorithm, priority queue, label setting, greedy algorithm, label correcting, Gauss "
        "Seidel, Jacobi, relaxation"),
    "course/10-order-and-stability": (
        "natural order, dioid, ordered semiring, canonical order, least solution, least fixed point, fixed point, "
        "k closed, k closed semiring, Mohri, bounded semiring, stability, truncated power series"),
    "course/11-kleene-algebra": (
        "Kleene algebra, Kozen, axioms of Kleene algebra, regular algebra, Conway semiring, equivalence of regular "
        "expressions, denesting, sliding rule"),
    "course/12-routing": (
        "routing algebra, Sobrinho, metarouting, BGP, path vector, local optimum, isotone, monotone, isotonicity, "
        "stable paths problem, widest shortest path, shortest widest path, quality of service, QoS"),
    "course/automata": (
        "hidden Markov model, HMM, forward algorithm, backward algorithm, forward backward, Baum Welch, Viterbi "
        "algorithm, trellis, weighted automata, weighted finite automaton, sequence labelling"),
    "course/provenance": (
        "provenance, data provenance, provenance polynomial, provenance semiring, why provenance, how provenance, "
        "query annotation, database, SQL, relational algebra, polynomials, free commutative semiring"),
    "course/maxplus": (
        "timetable, train timetable, max plus linear system, discrete event system, timed event graph, transient, "
        "periodic regime, cyclicity, critical graph, Galois connection, residuated lattice"),
    "course/lecturers": (
        "lecturer, teacher, instructor, syllabus, curriculum, slides, lecture plan, handout, exam, homework, "
        "problem set, problems with proofs"),
    "course/glossary": (
        "glossary, notation, definitions, terminology, symbols, meaning of words, what does closure mean"),
    "howto/index": "how to, recipes, examples, cookbook, guides",
    "howto/topics": "problems by name, use cases, applications, what can it solve, graph algorithms",
    "howto/topics#all-pairs-shortest-paths": (
        "all pairs shortest path, APSP, shortest path, distance matrix, shortest distances, shortest route, "
        "routing, min plus, tropical semiring"),
    "howto/topics#shortest-paths-from-one-source": (
        "single source shortest path, SSSP, shortest path tree, distances from one vertex, shortest path from a "
        "source"),
    "howto/topics#the-k-shortest-walks-and-paths": (
        "k shortest, k shortest paths, Yen, Eppstein, second shortest path, next best path, alternative routes, n "
        "best"),
    "howto/topics#widest-path-or-bottleneck": (
        "widest path, bottleneck, bottleneck path, bottleneck shortest path, minimax path, maximin, maximum "
        "capacity path, maximum bandwidth, fattest path, max min, Schulze method, single linkage, minimum spanning "
        "tree"),
    "howto/topics#most-reliable-path": (
        "most reliable path, most probable path, safest path, maximum likelihood, Viterbi, max times, network "
        "reliability"),
    "howto/topics#longest-and-critical-path": (
        "longest path, critical path, critical path method, CPM, PERT, project scheduling, scheduling, makespan, "
        "slack, max plus"),
    "howto/topics#number-of-paths": "number of paths, count paths, counting paths, path counting",
    "howto/topics#negative-cycle-and-arbitrage": (
        "negative cycle, detect negative cycles, arbitrage, currency exchange, exchange rates"),
    "howto/topics#markov-chain-linear-equations": (
        "Markov chain, absorbing Markov chain, absorption probability, expected visits, hitting time, random "
        "walk, fundamental matrix, Neumann series, linear equations, linear system, solve equations, gambler's "
        "ruin, Katz centrality, PageRank, plus times"),
    "howto/topics#automaton-to-regular-expression": (
        "regular expression, regex, automaton, finite automaton, NFA, DFA, automata, finite state machine, weighted "
        "automaton"),
    "howto/topics#several-criteria-pareto-front": (
        "Pareto, Pareto front, multi objective, multi criteria, multicriteria shortest path, bicriteria, trade off"),
    "howto/topics#greatest-cycle-mean-the-eigenvalue-of-max-plus": (
        "eigenvalue, eigenvector, cycle mean, minimum mean cycle, maximum cycle mean, Karp's algorithm, max plus "
        "eigenvalue, throughput, cycle time, spectral theory"),
    "howto/topics#components-topological-order": (
        "topological sort, topological order, connected components, strongly connected components, SCC, DAG, "
        "acyclic graph"),
    "howto/scipy": "SciPy, csgraph, scipy sparse csgraph, drop in replacement",
    "howto/networkx": "NetworkX, nx, networkx backend",
    "howto/frames": "pandas, polars, arrow, data frame, dataframe, table of edges",
    "howto/csv": "CSV, spreadsheet, Excel, edge list, import data",
    "howto/files": (
        "file formats, save, load, read a graph, export, Matrix Market, GraphML, DIMACS, Pajek, GML, parquet"),
    "howto/names": "names, labels, vertex names, node labels, named vertices",
    "howto/gpu": (
        "GPU, CUDA, CuPy, NVIDIA, graphics card, multi GPU, multiple GPUs, several GPUs, accelerator, tensor cores"),
    "howto/tensors": (
        "PyTorch, torch, JAX, autograd, gradient, backpropagation, differentiable, differentiable shortest path, "
        "tensor, neural network, soft shortest path"),
    "howto/sparse": "sparse, sparse matrix, sparse graph, sparse elimination, factorization, road network, CSR",
    "howto/reach": (
        "transitive closure, reachability, connectivity, dependency graph, ancestors and descendants, bit matrix, "
        "Warshall, transitive reduction, who reaches whom, call graph, bit set, Boolean matrix"),
    "howto/million": (
        "large graph, million vertices, big graph, hub labels, out of memory, diameter, eccentricity, distance "
        "oracle, memory limit, larger than memory, out of core, from file to file"),
    "howto/service": "web service, server, restart, precompute, persist, pickle",
    "howto/cluster": "cluster, MPI, Ray, distributed, parallel, several machines, supercomputer, multiprocessing",
    "howto/markov": "hmmlearn, train a hidden Markov model, posterior decoding, counts of transitions",
    "howto/masks": "mask, masked product, triangles, triangle counting, k-truss, sampled product, SDDMM, "
        "structural mask, complement",
    "howto/prefixes": "cumulative sum, cumsum, cumprod, accumulate, prefix sum, prefix scan, running minimum, running "
        "maximum, reduce, product of many matrices, ufunc.accumulate, ufunc.reduce",
    "howto/graphblas": "GraphBLAS, python-graphblas, SuiteSparse, LAGraph, GAP benchmark, "
        "breadth-first search by products, parents of a search, betweenness centrality, label propagation",
    "howto/paper": "algebra from a paper, expectation semiring by Eisner, formulas",
    "reference/index": "API, API reference, documentation",
    "reference/verbs": "verbs, functions, list of functions, options, methods, schedule",
    "reference/algebras": (
        "custom semiring, define a semiring, define your own, user defined semiring, own semiring, own algebra, "
        "user defined, new semiring, new algebra, Semiring class, custom algebra, record type, composite semiring, "
        "product semiring, create a semiring, custom operations, check laws"),
    "reference/catalogue": (
        "built in semirings, list of semirings, available semirings, predefined semirings, algebras, semirings, "
        "tropical, fuzzy, Łukasiewicz, Gödel, lineage, finite field, Galois field, modular arithmetic"),
    "reference/operations": "allowed operations, NumPy ufuncs, which functions, np.where, supported operations",
    "reference/graphs": (
        "graph, graphs, adjacency matrix, weighted graph, directed graph, undirected graph, random graph, packed "
        "matrix, edges"),
    "reference/csgraph": "floyd_warshall, johnson, johnson's algorithm, scipy functions",
    "reference/answers": "answers, results, return types, factors",
    "reference/errors": "errors, exceptions, error messages, NoClosureError, LawError, warnings",
    "reference/rounding": (
        "rounding, floating point, precision, accuracy, numerical stability, overflow, tolerance, epsilon, integer "
        "overflow, NaN, determinism"),
    "reference/command-line": "command line, CLI, terminal, shell, bash",
    "reference/environment": (
        "environment variables, compile, compilation, JIT, Numba, threads, number of threads, cache directory, warm "
        "up, slow first call, SEMIRING_COMPILE"),
    "reference/api/semiring.matmul": (
        "matrix multiplication, matrix product, semiring matrix multiplication, min plus product, distance product, "
        "dot product, einsum"),
    "reference/api/semiring.explain": (
        "step by step, visualize, visualization, animation, stepper, interactive, trace"),
    "reference/api/semiring.compare": "compare algebras, side by side",
    "reference/api/semiring.chain": "matrix chain, matrix chain multiplication",
    "reference/api/semiring.convolve": (
        "convolution, min plus convolution, infimal convolution, tropical convolution, max plus convolution, "
        "deconvolution, polynomial product, Minkowski sum, dilation, numpy.convolve, scipy.signal.convolve"),
    "reference/api/semiring.residual": "residuation, residual, latest start times, deadlines",
    "reference/api/semiring.nearest": "nearest facility, closest, multi source, Voronoi",
    "reference/api/semiring.random_graph": "generate a random graph, Erdős Rényi, R-MAT",
    "reference/api/semiring.lexicographic": "lexicographic product, tie breaking, ties",
    "reference/api/semiring.plan": "query plan, cost prediction, why is it slow, which method",
    "reference/api/semiring.diameter": "graph diameter",
    "reference/api/semiring.bridges": "bridges, cut edges",
    "reference/api/semiring.find_cycle": "find a cycle, cycle detection, circular dependency",
    "reference/api/semiring.transitive_reduction": "Hasse diagram of a graph, redundant edges",
    "architecture/index": "architecture, internals, contribute, how it works, add a semiring, extend, developer",
    "architecture/design": "design, source code, layout of the code",
    "architecture/sparse": "multifrontal, supernodes, elimination tree, minimum degree",
    "architecture/cuda": "CUDA kernel, kernel, shared memory, warp",
    "benchmarks": (
        "benchmarks, performance, speed, how fast, comparison with SciPy, comparison with NetworkX, timing, runtime"),
    "history": "history, literature, bibliography, references, who invented, papers, citations",
    "ladder": "ladder, published algorithms, Harish Narayanan, Katz Kider, Buluç, measured papers, Venkataraman",
}


def words(docname: str) -> list[tuple[str, str]]:
    """The entries of a page: an anchor, which may be empty, and a phrase."""
    found = []
    for place, phrases in WORDS.items():
        page, _, anchor = place.partition("#")
        if page == docname:
            found += [(anchor, phrase.strip()) for phrase in phrases.split(",")]
    return found
