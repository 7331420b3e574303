// Random games of Gomoku on 15x15, five or more: plain C++ over an array of cells. Prints plies, draws and seconds.
//
//   gomoku_rules GAMES SEED
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

constexpr int SIZE = 15, CELLS = SIZE * SIZE, LINE = 5;

struct Board {
    int8_t cells[SIZE][SIZE] = {};
    int side = 0, ply = 0;
    bool won = false;

    int run(int row, int column, int down, int right, int colour) const {
        int found = 0;
        row += down, column += right;
        while (row >= 0 && row < SIZE && column >= 0 && column < SIZE && cells[row][column] == colour) {
            ++found;
            row += down, column += right;
        }
        return found;
    }

    void play(int cell) {
        const int row = cell / SIZE, column = cell % SIZE, colour = side + 1;
        cells[row][column] = static_cast<int8_t>(colour);
        ++ply;
        side = 1 - side;
        constexpr int AXES[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
        for (const auto& [down, right] : AXES)
            if (1 + run(row, column, down, right, colour) + run(row, column, -down, -right, colour) >= LINE) {
                won = true;
                return;
            }
    }

    void take_back(int cell) {
        cells[cell / SIZE][cell % SIZE] = 0;
        --ply;
        side = 1 - side;
        won = false;
    }
};

static uint64_t state;

static int below(int n) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<int>(((state * 0x2545F4914F6CDD1DULL) >> 33) % static_cast<uint64_t>(n));
}

int main(int, char** words) {
    const int games = std::atoi(words[1]);
    state = std::strtoull(words[2], nullptr, 10);
    int order[CELLS];
    for (int i = 0; i < CELLS; ++i) order[i] = i;
    Board board;
    long plies = 0, draws = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int game = 0; game < games; ++game) {
        for (int i = CELLS - 1; i > 0; --i) std::swap(order[i], order[below(i + 1)]);
        while (!board.won && board.ply < CELLS) board.play(order[board.ply]);
        plies += board.ply;
        draws += !board.won;
        while (board.ply > 0) board.take_back(order[board.ply - 1]);
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("%ld %ld %.9f\n", plies, draws, spent.count());
}
