// Enough of CUDA to run the kernels on a CPU, thread by thread: blocks one after the other, the
// threads of a block as coroutines that wait for each other where CUDA's would.

#undef _FORTIFY_SOURCE  // it takes a jump to another stack for a mistake

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

using std::max;
using std::min;

struct Place {
    int x, y;
};

static Place threadIdx, blockIdx, blockDim, gridDim;
static char memory_of_block[1 << 18];

struct Group {  // threads that wait for each other
    int size = 0, arrived = 0;
    unsigned generation = 0;
    unsigned long long slots[2][32];
};

struct Fiber {
    jmp_buf place;  // swapcontext() would ask the system for the signal mask at each turn
    std::vector<char> stack;
    bool done = false;
    const Group *waits = nullptr;
    unsigned generation = 0;  // of the group that it waits for
};

static std::vector<Fiber> fibers;
static std::vector<Group> warps;
static Group block;
static jmp_buf scheduler;
static int current;
static const std::function<void()> *body;

static void wait_in(Group &group)
{
    if (++group.arrived == group.size) {
        group.arrived = 0;
        group.generation++;
        return;
    }
    Fiber &fiber = fibers[current];
    fiber.waits = &group;
    fiber.generation = group.generation;
    if (!_setjmp(fiber.place)) _longjmp(scheduler, 1);
}

static void run_fiber()  // one block after the other: to begin anew would ask the system, too
{
    for (;;) {
        (*body)();
        Fiber &fiber = fibers[current];
        fiber.done = true;
        if (!_setjmp(fiber.place)) _longjmp(scheduler, 1);
    }
}

static __attribute__((noinline)) void go_on(Fiber &fiber)
{
    if (_setjmp(scheduler)) return;  // it waits, or has ended
    if (!fiber.stack.empty()) _longjmp(fiber.place, 1);
    fiber.stack.resize(1 << 16);
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = fiber.stack.data();
    start.uc_stack.ss_size = fiber.stack.size();
    start.uc_link = nullptr;
    makecontext(&start, run_fiber, 0);
    setcontext(&start);
}

static void launch(int grid_x, int grid_y, int threads, const std::function<void()> &kernel)
{
    body = &kernel;
    gridDim = {grid_x, grid_y};
    blockDim = {threads, 1};
    if ((int)fibers.size() < threads) fibers = std::vector<Fiber>(threads);
    for (int y = 0; y < grid_y; y++)
        for (int x = 0; x < grid_x; x++) {
            warps.assign((threads + 31) / 32, Group());
            for (auto &warp : warps) warp.size = 32;
            block = Group();
            block.size = threads;
            for (int t = 0; t < threads; t++) {
                fibers[t].done = false;
                fibers[t].waits = nullptr;
            }
            for (int left = threads; left > 0;)
                for (int t = 0; t < threads; t++) {
                    Fiber &fiber = fibers[t];
                    if (fiber.done) continue;
                    if (fiber.waits && fiber.waits->generation == fiber.generation) continue;
                    current = t;
                    threadIdx = {t, 0};
                    blockIdx = {x, y};
                    go_on(fiber);
                    left -= fiber.done;
                }
        }
}

// A value of each lane, for all lanes. Threads resume with their own number.
template <typename T> static const unsigned long long *exchange(T value)
{
    int me = current;
    Group &warp = warps[me / 32];
    unsigned turn = warp.generation & 1;
    unsigned long long bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    warp.slots[turn][me % 32] = bits;
    wait_in(warp);
    threadIdx = {me, 0};
    return warp.slots[turn];
}

template <typename T> static T back(unsigned long long bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

static unsigned __ballot_sync(unsigned, bool p)
{
    const unsigned long long *all = exchange<unsigned long long>(p);
    unsigned bits = 0;
    for (int lane = 0; lane < 32; lane++) bits |= (unsigned)(all[lane] != 0) << lane;
    return bits;
}

static bool __all_sync(unsigned m, bool p) { return __ballot_sync(m, p) == 0xffffffffu; }
static bool __any_sync(unsigned m, bool p) { return __ballot_sync(m, p) != 0; }

template <typename T> static T __shfl_sync(unsigned, T value, int source)
{
    return back<T>(exchange(value)[source]);
}

template <typename T> static T __shfl_xor_sync(unsigned, T value, int mask)
{
    int lane = current % 32;
    return back<T>(exchange(value)[lane ^ mask]);
}

static void __syncthreads()
{
    int me = current;
    wait_in(block);
    threadIdx = {me, 0};
}

template <typename T> static T atomicAdd(T *at, T value)
{
    T before = *at;
    *at += value;
    return before;
}

static int __ffs(unsigned v) { return __builtin_ffs((int)v); }
static int __popc(unsigned v) { return __builtin_popcount(v); }
static long long __double_as_longlong(double d) { return back<long long>(*(unsigned long long *)&d); }
static double __longlong_as_double(long long i) { return back<double>((unsigned long long)i); }

#define __global__ static
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __shared__ static
