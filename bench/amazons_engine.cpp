// The Amazons evaluation in plain C++, the reference of bench/amazons_engine.py: one position after the other, a board in
// two 64-bit words (square r, c at bit 11 r + c), rays walked by shifting until nothing is left, distances by flood fill.
//
// Usage: amazons_engine FILE TEMPO REPEATS. FILE holds positions of the 10x10 board, 6 little-endian uint64 each: own
// amazons, the other side's, empty squares, low and high word. Prints, for the best of REPEATS passes: the seconds and
// the sum of t1 + t2 + c1 + c2 + w of evaluating all; the same with m; the turns of all positions and the seconds for
// generating and storing them; and for generating and evaluating them with m, the seconds and the sum.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

struct Set {
    uint64_t low = 0, high = 0;
    Set operator&(Set o) const { return {low & o.low, high & o.high}; }
    Set operator|(Set o) const { return {low | o.low, high | o.high}; }
    Set operator^(Set o) const { return {low ^ o.low, high ^ o.high}; }
    Set operator~() const { return {~low, ~high}; }
    bool operator==(const Set&) const = default;
    explicit operator bool() const { return low | high; }
    int count() const { return std::popcount(low) + std::popcount(high); }
    Set shifted(int k) const {
        if (k > 0) return {low << k, high << k | low >> (64 - k)};
        return {low >> -k | high << (64 + k), high >> -k};
    }
    int first() const { return low ? std::countr_zero(low) : 64 + std::countr_zero(high); }
};
static Set square(int bit) { return bit < 64 ? Set{1ull << bit, 0} : Set{0, 1ull << (bit - 64)}; }

static const int directions[8] = {1, -1, 10, -10, 11, -11, 12, -12};
struct Position { Set own, other, empty; };
struct Turn { unsigned char from, to, arrow; };

static Set king_step(Set from, Set empty) {
    Set row = from | from.shifted(1) | from.shifted(-1);
    return (row | row.shifted(11) | row.shifted(-11)) & empty;
}

static Set queen_step(Set from, Set empty) {
    Set out;
    for (int d : directions)
        for (Set ray = from.shifted(d) & empty; ray; ray = ray.shifted(d) & empty) out = out | ray;
    return out;
}

// Squares by the step at which a side first reaches them; the last set is not empty.
template <Set (*step)(Set, Set)>
static int distances(Set amazons, Set empty, Set* found) {
    int n = 0;
    for (Set fresh = step(amazons, empty), left = empty; fresh; fresh = step(fresh, left)) {
        found[n++] = fresh;
        left = left & ~fresh;
    }
    return n;
}

static double mobility(Set amazons, Set empty, Set reached) {
    double total = 0;
    for (int d : directions) {
        double share = 0.5;
        for (Set ray = amazons.shifted(d) & empty; ray; ray = ray.shifted(d) & empty, share *= 0.5) {
            int open = 0;
            for (int e : directions) open += ((ray & reached).shifted(e) & empty).count();
            total += share * open;
        }
    }
    return total;
}

static double evaluate(const Position& p, double tempo, bool with_mobility) {
    static double half[128];
    if (half[0] == 0) for (int i = 0; i < 128; i++) half[i] = std::ldexp(1.0, -i);
    Set own[110], other[110];
    int n = distances<queen_step>(p.own, p.empty, own), m = distances<queen_step>(p.other, p.empty, other);
    Set all, theirs;
    for (int i = 0; i < n; i++) all = all | own[i];
    for (int i = 0; i < m; i++) theirs = theirs | other[i];
    const Set both = all & theirs;
    double t1 = (all & ~theirs).count() - (theirs & ~all).count(), c1 = 0, w = 0;
    for (int i = 0; i < n; i++) c1 += half[i] * own[i].count();
    for (int i = 0; i < m; i++) c1 -= half[i] * other[i].count();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (const int squares = (own[i] & other[j]).count()) {
                t1 += i < j ? squares : i > j ? -squares : tempo * squares;
                w += half[std::abs(i - j)] * squares;
            }
    n = distances<king_step>(p.own, p.empty, own), m = distances<king_step>(p.other, p.empty, other);
    const int alone = (all & ~theirs).count() - (theirs & ~all).count();
    double t2 = alone, c2 = 6 * alone;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (const int squares = (own[i] & other[j]).count()) {
                t2 += i < j ? squares : i > j ? -squares : tempo * squares;
                c2 += squares * std::clamp(j - i, -6, 6);
            }
    double total = t1 + t2 + c1 + c2 / 6 + w;
    if (with_mobility) total += mobility(p.own, p.empty, both) - mobility(p.other, p.empty, both);
    return total;
}

static int generate(const Position& p, Turn* out) {
    Turn* at = out;
    for (Set amazons = p.own; amazons; amazons = amazons ^ square(amazons.first())) {
        const int from = amazons.first();
        const Set empty = p.empty | square(from);
        for (int d : directions)
            for (Set to = square(from).shifted(d) & p.empty; to; to = to.shifted(d) & p.empty)
                for (int e : directions)
                    for (Set arrow = to.shifted(e) & empty; arrow; arrow = arrow.shifted(e) & empty)
                        *at++ = {(unsigned char)from, (unsigned char)to.first(), (unsigned char)arrow.first()};
    }
    return at - out;
}

static double best(int repeats, const std::function<double()>& pass, double& sum) {
    double seconds = 1e9;
    for (int i = 0; i < repeats; i++) {
        const auto start = std::chrono::steady_clock::now();
        sum = pass();
        seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return seconds;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    std::vector<Position> positions;
    std::FILE* file = std::fopen(argv[1], "rb");
    if (!file) return 2;
    for (uint64_t w[6]; std::fread(w, 8, 6, file) == 6;)
        positions.push_back({{w[0], w[1]}, {w[2], w[3]}, {w[4], w[5]}});
    std::fclose(file);
    const double tempo = std::atof(argv[2]);
    const int repeats = std::atoi(argv[3]);
    static Turn turns[8192];
    const auto all = [&](bool mobile) {
        return [&, mobile] {
            double sum = 0;
            for (const Position& p : positions) sum += evaluate(p, tempo, mobile);
            return sum;
        };
    };
    const auto generated = [&] {
        long long count = 0;
        for (const Position& p : positions) count += generate(p, turns);
        return (double)count;
    };
    const auto one_ply = [&] {
        double sum = 0;
        for (const Position& p : positions)
            for (int i = 0, n = generate(p, turns); i < n; i++) {
                const Set moved = square(turns[i].from) ^ square(turns[i].to);
                sum += evaluate({p.other, p.own ^ moved, p.empty ^ moved ^ square(turns[i].arrow)}, tempo, true);
            }
        return sum;
    };
    const std::function<double()> passes[] = {all(false), all(true), generated, one_ply};
    for (const auto& pass : passes) {
        double sum = 0;
        const double seconds = best(repeats, pass, sum);
        std::printf("%.9f %.6f\n", seconds, sum);
    }
}
