// Perft of the Amazons in plain C++, the reference of bench/amazons_perft.py: a 12x12 mailbox with a border, rays walked
// square by square, every turn of the last ply generated and stored. Usage: amazons_perft REPEATS; prints the count and
// the median milliseconds of perft(2) from the start position.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

static unsigned char blocked[144];
static int amazons[2][4] = {{16, 19, 49, 58}, {85, 94, 124, 127}};
static const int steps[8] = {1, -1, 12, -12, 13, -13, 11, -11};
struct Turn { unsigned char who, from, to, arrow; };
static Turn first_ply[8192], last_ply[8192];

static int generate(int side, Turn* out) {
    Turn* at = out;
    for (int who = 0; who < 4; who++) {
        const int from = amazons[side][who];
        blocked[from] = 0;
        for (int d : steps)
            for (int to = from + d; !blocked[to]; to += d)
                for (int e : steps)
                    for (int arrow = to + e; !blocked[arrow]; arrow += e)
                        *at++ = {(unsigned char)who, (unsigned char)from, (unsigned char)to, (unsigned char)arrow};
        blocked[from] = 1;
    }
    return at - out;
}

static long long perft2() {
    long long total = 0;
    const int n = generate(0, first_ply);
    for (int i = 0; i < n; i++) {
        const Turn t = first_ply[i];
        blocked[t.from] = 0; blocked[t.to] = 1; blocked[t.arrow] = 1; amazons[0][t.who] = t.to;
        total += generate(1, last_ply);
        blocked[t.arrow] = 0; blocked[t.to] = 0; blocked[t.from] = 1; amazons[0][t.who] = t.from;
    }
    return total;
}

int main(int argc, char** argv) {
    const int repeats = argc > 1 ? std::atoi(argv[1]) : 20;
    for (int s = 0; s < 144; s++) blocked[s] = s / 12 == 0 || s / 12 == 11 || s % 12 == 0 || s % 12 == 11;
    for (auto& side : amazons) for (int& s : side) { blocked[s] = 1; }
    std::vector<double> ms;
    long long count = 0;
    for (int i = 0; i < repeats; i++) {
        auto start = std::chrono::steady_clock::now();
        count = perft2();
        ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(ms.begin(), ms.end());
    std::printf("%lld %.6f\n", count, ms[ms.size() / 2]);
}
