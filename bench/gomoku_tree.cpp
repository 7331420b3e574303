// PUCT for 15x15 Gomoku in plain C++, the reference of bench/gomoku_tree.py: the same algorithm over the same records,
// with the board's size known to the compiler. The evaluator is a constant array: this is the tree alone.
//
// Usage: gomoku_tree FILE ROWS TREES SIMULATIONS MOVES NODES C. FILE holds float32: ROWS rows of 225 priors, then ROWS
// values; position b of batch k gets row 97 k mod (ROWS - TREES) + b. Prints the processor's seconds for MOVES moves (each:
// simulations in lock step, then the most visited step is played and the tree below it kept) and a checksum of all root
// visits.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static const int SIDE = 15, CELLS = SIDE * SIDE;

struct State {
    int8_t board[CELLS];
    int16_t moves[CELLS];
    int16_t side, ply, over;
    uint64_t hash;
};
static uint64_t keys[2][CELLS];

static int run(const int8_t* board, int row, int column, int down, int right, int colour) {
    int n = 0;
    for (row += down, column += right;
         row >= 0 && row < SIDE && column >= 0 && column < SIDE && board[row * SIDE + column] == colour;
         row += down, column += right) n++;
    return n;
}

static void play(State& s, int cell) {
    const int colour = s.side + 1, row = cell / SIDE, column = cell % SIDE;
    s.board[cell] = colour;
    s.moves[s.ply++] = cell;
    s.hash ^= keys[s.side][cell] ^ 0x9E3779B97F4A7C15ull;
    s.side ^= 1;
    static const int directions[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (auto& d : directions)
        if (1 + run(s.board, row, column, d[0], d[1], colour) + run(s.board, row, column, -d[0], -d[1], colour) >= 5) {
            s.over = 1;
            return;
        }
    if (s.ply == CELLS) s.over = 2;
}

static int write_steps(const State& s, int32_t* out) {
    int n = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        out[n] = cell;
        n += s.board[cell] == 0;
    }
    return n;
}

struct alignas(64) Node {
    double total;
    int visits, first, edges, count, next, parent, owner;
    float value;
    int8_t side, over;
};
struct alignas(32) Edge {
    double worth;
    int tries;
    float prior;
    int child, step, place;
};
struct Tree {
    Node* nodes;
    Edge* edges;
    int32_t (*bits)[CELLS];
    int16_t (*steps)[CELLS];
    int used, used_edges, done, waiting;
};

static void back_up(Tree& t, int node, double value) {
    const int side = t.nodes[node].side;
    for (int up = t.nodes[node].parent; up >= 0; node = up, up = t.nodes[up].parent) {
        Edge& e = t.edges[t.nodes[node].owner];
        const double seen = t.nodes[up].side == side ? value : -value;
        e.worth += seen;
        e.tries++;
        t.nodes[up].total += seen;
        t.nodes[up].visits++;
    }
    t.done++;
}

static int likeliest(const int32_t* bits, int count) {
    int32_t most = -1;
    for (int i = 0; i < count; i++) most = bits[i] > most ? bits[i] : most;
    if (most < 0) return -1;
    int place = 0;
    while (bits[place] != most) place++;
    return place;
}

// The best edge, or -1 and the place of the step that is to get one.
static int choose(Tree& t, int node, double c, int& place) {
    Node& n = t.nodes[node];
    const double scale = c * std::sqrt((double)n.visits);
    double most = -INFINITY;
    int best = -1;
    place = CELLS;
    if (n.next == -2) n.next = likeliest(t.bits[node], n.count);
    if (n.next >= 0) {
        float prior;
        std::memcpy(&prior, &t.bits[node][n.next], 4);
        most = n.total / n.visits + scale * prior;
        place = n.next;
    }
    for (int i = n.first; i < n.first + n.edges; i++) {
        const Edge& e = t.edges[i];
        const double bound = e.worth / e.tries + scale * e.prior / (1.0 + e.tries);
        if (bound > most || (bound == most && e.place < place)) most = bound, best = i, place = e.place;
    }
    return best;
}

static int new_node(Tree& t, int parent, int owner, int side) {
    t.nodes[t.used] = {0, 0, 0, 0, 0, -2, parent, owner, 0, (int8_t)side, 0};
    return t.used++;
}

static int new_edge(Tree& t, int node, int place) {
    Node& n = t.nodes[node];
    if ((n.edges & (n.edges - 1)) == 0) {
        for (int i = 0; i < n.edges; i++) {
            t.edges[t.used_edges + i] = t.edges[n.first + i];
            t.nodes[t.edges[n.first + i].child].owner = t.used_edges + i;
        }
        n.first = t.used_edges;
        t.used_edges += n.edges ? 2 * n.edges : 1;
    }
    const int e = n.first + n.edges++;
    float prior;
    std::memcpy(&prior, &t.bits[node][place], 4);
    t.bits[node][place] |= INT32_MIN;
    n.next = -2;
    t.edges[e] = {0, 0, prior, t.used, t.steps[node][place], place};
    return e;
}

// Descend once; true where `state` waits for the evaluator.
static bool descend(Tree& t, State& state, double c, int nodes) {
    int node = 0;
    if (t.used == 0) {
        new_node(t, -1, -1, state.side);
    } else {
        int place, e;
        while ((e = choose(t, node, c, place)) >= 0) {
            node = t.edges[e].child;
            if (t.nodes[node].over) {
                back_up(t, node, t.nodes[node].total);
                return false;
            }
            play(state, t.edges[e].step);
        }
        if (t.used == nodes) std::abort();
        e = new_edge(t, node, place);
        play(state, t.edges[e].step);
        node = new_node(t, node, e, state.side);
        if (state.over) {
            Node& n = t.nodes[node];
            n.over = n.visits = 1;
            n.total = state.over == 1 ? -1 : 0;
            back_up(t, node, n.total);
            return false;
        }
    }
    t.waiting = node;
    return true;
}

static void absorb(Tree& t, const float* priors, float value) {
    Node& n = t.nodes[t.waiting];
    n.visits = 1;
    n.total = n.value = value;
    std::memcpy(t.bits[t.waiting], priors, 4 * n.count);
    if (t.waiting > 0) back_up(t, t.waiting, value);
    t.waiting = -1;
}

static void keep_below(Tree& t, int top, std::vector<int>& moved, std::vector<Edge>& block) {
    block.assign(t.edges, t.edges + t.used_edges);
    int kept = 0, used = 0;
    for (int node = top; node < t.used; node++) {
        const int parent = t.nodes[node].parent;
        moved[node] = node == top ? 0 : parent >= top && moved[parent] >= 0 ? kept : -1;
        if (moved[node] < 0) continue;
        Node& n = t.nodes[kept] = t.nodes[node];
        std::memmove(t.bits[kept], t.bits[node], 4 * n.count);
        std::memmove(t.steps[kept], t.steps[node], 2 * n.count);
        for (int i = 0; i < n.edges; i++) {
            t.edges[used + i] = block[n.first + i];
            t.nodes[t.edges[used + i].child].owner = used + i;
        }
        n.first = used;
        int length = n.edges ? 1 : 0;
        while (length < n.edges) length *= 2;
        used += length;
        if (node == top) n.parent = n.owner = -1;
        else {
            n.parent = moved[parent];
            t.edges[n.owner].child = kept;
        }
        kept++;
    }
    t.used = kept, t.used_edges = used;
}

int main(int argc, char** argv) {
    if (argc != 8) return 2;
    const int rows = std::atoi(argv[2]), trees = std::atoi(argv[3]), simulations = std::atoi(argv[4]);
    const int moves = std::atoi(argv[5]), nodes = std::atoi(argv[6]);
    const double c = std::atof(argv[7]);
    std::vector<float> priors(rows * CELLS), values(rows);
    FILE* file = std::fopen(argv[1], "rb");
    if (!file || std::fread(priors.data(), 4, priors.size(), file) != priors.size() ||
        std::fread(values.data(), 4, values.size(), file) != values.size()) return 1;
    uint64_t seed = 1;
    for (auto& side : keys)
        for (uint64_t& key : side) key = seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    std::vector<Tree> forest(trees);
    for (Tree& t : forest) {
        t.nodes = (Node*)std::aligned_alloc(64, sizeof(Node) * (nodes | 1));
        t.edges = (Edge*)std::aligned_alloc(64, sizeof(Edge) * (4 * (nodes | 1) + 2));
        t.bits = (int32_t(*)[CELLS])std::malloc(sizeof(int32_t[CELLS]) * nodes);
        t.steps = (int16_t(*)[CELLS])std::malloc(sizeof(int16_t[CELLS]) * nodes);
    }
    std::vector<State> roots(trees), states(trees);
    std::vector<int32_t> steps(trees * CELLS), counts(trees), tree_of(trees);
    std::vector<int> moved(nodes);
    std::vector<Edge> block;
    uint64_t sum = 0;
    double seconds = 0;
    for (int repeat = 0; repeat < 2; repeat++) {  // the first one also gets the memory
        for (int g = 0; g < trees; g++) {
            roots[g] = State{};
            forest[g].used = forest[g].used_edges = 0;
            forest[g].waiting = -1;
        }
        sum = 0;
        int batch = 0;
        const std::clock_t start = std::clock();
        for (int move = 0; move < moves; move++) {
            for (Tree& t : forest) t.done = 0;
            for (int n = 1, before = 0; n > 0; before = n) {
                const int from = before ? 97 * batch++ % (rows - trees) : 0;
                n = 0;
                int b = 0;
                for (int g = 0; g < trees; g++) {
                    Tree& t = forest[g];
                    if (b < before && tree_of[b] == g) {
                        absorb(t, &priors[(from + b) * CELLS], values[from + b]);
                        b++;
                    }
                    while (t.used == 0 || t.done < simulations) {
                        State& state = states[n];
                        state = roots[g];
                        if (!descend(t, state, c, nodes)) continue;
                        const int count = counts[n] = t.nodes[t.waiting].count = write_steps(state, &steps[n * CELLS]);
                        for (int i = 0; i < count; i++) t.steps[t.waiting][i] = steps[n * CELLS + i];
                        tree_of[n++] = g;
                        break;
                    }
                }
            }
            for (int g = 0; g < trees; g++) {
                Tree& t = forest[g];
                const Node& root = t.nodes[0];
                const Edge* best = &t.edges[root.first];
                for (int i = 0; i < root.edges; i++) {
                    const Edge& e = t.edges[root.first + i];
                    sum += (uint64_t)e.tries * (e.place + 1) * (g + 1) * (move + 1);
                    if (e.tries != best->tries ? e.tries > best->tries
                        : e.worth != best->worth ? e.worth > best->worth : e.place < best->place) best = &e;
                }
                play(roots[g], best->step);
                keep_below(t, best->child, moved, block);
            }
        }
        seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    }
    std::printf("%.9f %llu\n", seconds, (unsigned long long)sum);
}
