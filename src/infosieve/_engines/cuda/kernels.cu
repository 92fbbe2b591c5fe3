// The CUDA engine's kernels: the same comparisons as the CPU's, in float64 and without fused
// multiply-add (compile with --fmad=false), and integer sums, so that the bits are the same.
//
// A warp serves one sample for 32 candidates, a lane each, which all meet the same neighbours in
// the same order. Candidates lie in stripes of 32: stripe, sample, lane.
//
// Compiled for each form: LO and HI (the range of K), SQUARED (distances inside blocks are sums of
// squares), ADD (a candidate's is added to that of the selected columns), CONDITIONAL, RECTANGLE
// (Kraskov's second form).

#ifdef COUNT  // for benchmarks: how often a warp looks at a sample
__device__ unsigned long long met;
#define MET(n) \
    if ((threadIdx.x & 31) == 0) atomicAdd(&met, (unsigned long long)(n));
#else
#define MET(n)
#endif

typedef long long i64;
typedef unsigned long long u64;

#define WARPS 4
#define ALL 0xffffffffu
#define FAR 1e150
#define INF __longlong_as_double(0x7ff0000000000000LL)
#define EQUAL 1e-8

#ifndef HI
#define LO 3
#define HI 15
#define SQUARED 1
#define ADD 1
#define CONDITIONAL 0
#define RECTANGLE 0
#endif

__device__ __forceinline__ double next_up(double x)
{
    return __longlong_as_double(__double_as_longlong(x) + 1);  // of numbers that are not negative
}

__device__ __forceinline__ double step_of(double a, double b)
{
    double d = fabs(a - b);
    return SQUARED ? d * d : d;
}

// The distance of a candidate and the selected columns together.
__device__ __forceinline__ double joined(double shared, double step)
{
    return ADD ? shared + step : (shared > step ? shared : step);
}

__device__ __forceinline__ double larger(double a, double b) { return a > b ? a : b; }

// ---- the nearest of one candidate -------------------------------------------------------------

struct Nearest {
    double at[HI];  // rising

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int t = 0; t < HI; t++) at[t] = INF;
    }

    __device__ __forceinline__ double last() const { return at[HI - 1]; }

    // The largest that is not infinite.
    __device__ __forceinline__ double reach() const
    {
        double r = 0.0;
#pragma unroll
        for (int t = 0; t < HI; t++)
            if (at[t] < FAR) r = at[t];
        return r;
    }

    __device__ __forceinline__ void push(double d)
    {
        if (d < at[HI - 1]) {
#pragma unroll
            for (int t = HI - 1; t > 0; t--)
                at[t] = d < at[t - 1] ? at[t - 1] : (d < at[t] ? d : at[t]);
            at[0] = d < at[0] ? d : at[0];
        }
    }
};

// For each K two radii, and whether the sample itself is left out of the counts.
struct Radii {
    double a[HI];
#if RECTANGLE
    double b[HI];
    bool inner[HI];
    __device__ __forceinline__ double second(int t) const { return b[t]; }
    __device__ __forceinline__ int itself(int t) const { return inner[t] ? 1 : 0; }
#else
    __device__ __forceinline__ double second(int t) const { return a[t]; }
    __device__ __forceinline__ int itself(int) const { return 0; }
#endif
};

// The extent, in both blocks, of what lies within each of the nearest distances.
struct Sides {
#if RECTANGLE
    double a[HI], b[HI];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int t = 0; t < HI; t++) a[t] = b[t] = 0.0;
    }

    __device__ __forceinline__ void cover(const Nearest &near, double d_a, double d_b)
    {
        double d = larger(d_a, d_b);
#pragma unroll
        for (int t = 0; t < HI; t++)
            if (d <= near.at[t] && near.at[t] < FAR) {
                a[t] = larger(a[t], d_a);
                b[t] = larger(b[t], d_b);
            }
    }
#else
    __device__ __forceinline__ void clear() {}
    __device__ __forceinline__ void cover(const Nearest &, double, double) {}
#endif
};

// The radii of the counts, and the first terms into ``sums``. ``zeros``: samples at distance
// zero, itself included.
__device__ __forceinline__ void set_radii(const Nearest &near, const Sides &sides, int zeros, int n,
                                          const i64 *psi, Radii &radii, i64 *sums)
{
    int kn = 1;
    double r = near.at[0] < FAR ? near.at[0] : FAR;  // nobody: count all that a block can reach
#if RECTANGLE
    double sa = sides.a[0], sb = sides.b[0];
#endif
#pragma unroll
    for (int t = 0; t < HI; t++) {
        if (t > 0 && near.at[t] < FAR) {
            kn = t + 1;
            r = near.at[t];
#if RECTANGLE
            sa = sides.a[t];
            sb = sides.b[t];
#endif
        }
        radii.a[t] = r;
        i64 term = psi[kn];
#if RECTANGLE
        radii.b[t] = r;
        radii.inner[t] = false;
#endif
        if (r == 0.0) {
            radii.a[t] = next_up(0.0);
            term = psi[zeros];
#if RECTANGLE
            radii.b[t] = next_up(0.0);
        } else if (r < FAR) {
            radii.a[t] = next_up(sa);
            radii.b[t] = next_up(sb);
            radii.inner[t] = true;
            term = psi[n + 1 + kn];  // the second row: psi(k) - 1/k
#endif
        }
        if (t + 1 >= LO) sums[32 * t] += term;
    }
}

// The largest of all lanes.
__device__ __forceinline__ double of_all(double d)
{
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) d = larger(d, __shfl_xor_sync(ALL, d, step));
    return d;
}

// ---- counting in one sorted column --------------------------------------------------------------

// How many of the sorted values are strictly closer to x than the radius. ``first`` and ``last``
// bound those that are closer than an earlier, smaller radius, and move outwards.
__device__ __forceinline__ int count_sorted(const double *v, int n, double x, double radius,
                                            bool squared, int &first, int &last)
{
    int low = 0, high = first;
    while (low < high) {
        int middle = (low + high) >> 1;
        double d = x - v[middle];
        d = squared ? d * d : d;
        if (d < radius) high = middle;
        else low = middle + 1;
    }
    first = low;
    low = last;
    high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        double d = v[middle] - x;
        d = squared ? d * d : d;
        if (d < radius) low = middle + 1;
        else high = middle;
    }
    last = low;
    return last - first;
}

__device__ __forceinline__ int place_of(const double *v, int n, double x)
{
    int low = 0, high = n;  // the first that is not below x: x itself is there
    while (low < high) {
        int middle = (low + high) >> 1;
        if (v[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

// ---- candidates into stripes ---------------------------------------------------------------------

// Candidate c is column c % m, permuted by number c / m; ``order`` says which sample comes where.
// Idle lanes of the last stripe do as the last candidate does.
extern "C" __global__ void fill(const double *values, const int *permutations, const int *order,
                                int m, int n, int first, int total, double *stripes)
{
    int stripe = blockIdx.y, lane = threadIdx.x & 31;
    int c = min(first + 32 * stripe + lane, total - 1);
    const double *column = values + (size_t)(c % m) * n;
    const int *permutation = permutations ? permutations + (size_t)(c / m) * n : nullptr;
    for (int at = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); at < n;
         at += gridDim.x * (blockDim.x >> 5)) {
        int row = order ? order[at] : at;
        stripes[((size_t)stripe * n + at) * 32 + lane] = column[permutation ? permutation[row] : row];
    }
}

// ---- surrogates ----------------------------------------------------------------------------------

// Copy c is column which[c] moved by permutation numbers[c]: fitted values and permuted residuals.
extern "C" __global__ void move(const double *fitted, const double *residuals, const double *deviation,
                                const int *permutations, const int *which, const int *numbers,
                                int n, double *moved)
{
    int c = blockIdx.y;
    const double *fit = fitted + (size_t)which[c] * n, *residual = residuals + (size_t)which[c] * n;
    const int *permutation = permutations + (size_t)numbers[c] * n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        moved[(size_t)c * n + i] = fit[i] + deviation[i] * residual[permutation[i]];
}

// The values of the column in that order; samples that are equal come by their place.
extern "C" __global__ void put_in_order(const double *moved, const double *ordered, const int *which,
                                        int n, double *out)
{
    int c = blockIdx.y;
    const double *row = moved + (size_t)c * n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double here = row[i];
        int before = 0;
        for (int j = 0; j < i; j++) before += row[j] <= here;
        for (int j = i; j < n; j++) before += row[j] < here;
        out[(size_t)c * n + i] = ordered[(size_t)which[c] * n + before];
    }
}

// Copies that are nothing but permuted columns.
extern "C" __global__ void gather(const double *values, const int *permutations, const int *which,
                                  const int *numbers, int n, double *out)
{
    int c = blockIdx.y;
    const double *column = values + (size_t)which[c] * n;
    const int *permutation = permutations + (size_t)numbers[c] * n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[(size_t)c * n + i] = column[permutation[i]];
}

// ---- sums -----------------------------------------------------------------------------------------

__device__ __forceinline__ void add_up(i64 (*own)[HI][32], int first, int total, i64 *sums)
{
    __syncthreads();
    for (int at = threadIdx.x; at < 32 * HI; at += blockDim.x) {
        int t = at >> 5, lane = at & 31, c = first + 32 * blockIdx.y + lane;
        if (t + 1 < LO || c >= total) continue;
        i64 sum = 0;
        for (int w = 0; w < WARPS; w++) sum += own[w][t][lane];
        atomicAdd((u64 *)&sums[(size_t)(t + 1 - LO) * total + c], (u64)sum);
    }
}

__device__ __forceinline__ void clear_sums(i64 (*own)[HI][32])
{
    for (int at = threadIdx.x; at < WARPS * HI * 32; at += blockDim.x) (&own[0][0][0])[at] = 0;
    __syncthreads();
}

// ---- one column against one target -------------------------------------------------------------

// Samples are in the order of y. A warp walks outwards from its sample along y until no lane can
// find anything closer. Distances are plain: every block has one column.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
strips(const double *stripes, const double *y, const double *sorted, int m, int n, int first,
       int total, int points, const i64 *psi, i64 *sums)
{
    __shared__ i64 own[WARPS][HI][32];
    clear_sums(own);
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const double *x = stripes + (size_t)blockIdx.y * n * 32 + lane;
    const double *ordered = sorted + (size_t)(min(first + 32 * blockIdx.y + lane, total - 1) % m) * n;
    i64 *mine = &own[warp][0][lane];
    for (int p = warp; p < points; p += WARPS) {
        int here = blockIdx.x * points + p;
        if (here >= n) break;
        double x0 = x[(size_t)here * 32], y0 = y[here];
        Nearest near;
        near.clear();
        int left = here - 1, right = here + 1;
        while (left >= 0 || right < n) {
            double d_left = left >= 0 ? y0 - y[left] : INF;
            double d_right = right < n ? y[right] - y0 : INF;
            bool down = d_left <= d_right;
            double d_y = down ? d_left : d_right;
            if (__all_sync(ALL, d_y >= near.last())) break;
            double d = larger(fabs(x[(size_t)(down ? left : right) * 32] - x0), d_y);
            near.push(d);
            if (down) left--;
            else right++;
        }
        Sides sides;
        sides.clear();
        int zeros = 1;
        if (RECTANGLE || __any_sync(ALL, near.at[0] == 0.0)) {  // again: it is known how far
            double reach = near.reach();
            for (int side = -1; side <= 1; side += 2)
                for (int j = here + side; j >= 0 && j < n; j += side) {
                    double d_y = fabs(y[j] - y0);
                    if (__all_sync(ALL, d_y > reach)) break;
                    double d_x = fabs(x[(size_t)j * 32] - x0);
                    sides.cover(near, d_x, d_y);
                    zeros += d_x == 0.0 && d_y == 0.0;
                }
        }
        Radii radii;
        set_radii(near, sides, zeros, n, psi, radii, mine);
        int place = place_of(ordered, n, x0), first_x = place, last_x = place;
        int first_y = here, last_y = here;
#pragma unroll
        for (int t = LO - 1; t < HI; t++) {
            if (RECTANGLE) {  // radii need not rise with K
                first_x = last_x = place;
                first_y = last_y = here;
            }
            int n_x = count_sorted(ordered, n, x0, radii.a[t], false, first_x, last_x);
            int n_y = count_sorted(y, n, y0, radii.second(t), false, first_y, last_y);
            mine[32 * t] -= psi[n_x - radii.itself(t)] + psi[n_y - radii.itself(t)];
        }
    }
    add_up(own, first, total, sums);
}

// ---- candidates beside selected columns ----------------------------------------------------------

// Distances of two samples inside the selected columns and inside the target.
__device__ __forceinline__ double block_distance(const double *columns, int n_columns, int n, int i,
                                                 int j)
{
    double d = 0.0;
    for (int c = 0; c < n_columns; c++) {
        double step = step_of(columns[(size_t)c * n + j], columns[(size_t)c * n + i]);
        d = SQUARED ? d + step : larger(d, step);
    }
    return d;
}

// For each sample, those that are near by what all candidates share, in rising order: by the
// larger of both distances (which = 0), or in the selected columns alone (1). As many as there is
// room for and share a limit: ``limits`` has it, 0 where there are too many equal ones, and INF
// where all are listed.
extern "C" __global__ void lists(const double *selected, int n_s, const double *target, int n_t,
                                 int n, int first, int which, int room, i64 base, int *index,
                                 double *key, double *in_s, double *in_y, int *counts,
                                 double *limits)
{
    extern __shared__ char memory[];
    double *some_key = (double *)memory;
    int *some_index = (int *)(some_key + room);
    int *bins = some_index + room;  // 1,024 of them, sixteen to a doubling
    __shared__ int filled, cut;
    int here = first + blockIdx.x;
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) bins[b] = 0;
    for (int i = threadIdx.x; i < room; i += blockDim.x) {
        some_key[i] = INF;
        some_index[i] = 0;
    }
    if (threadIdx.x == 0) filled = 0;
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        if (j == here) continue;
        double d = block_distance(selected, n_s, n, here, j);
        if (which == 0) d = larger(d, block_distance(target, n_t, n, here, j));
        i64 bin = (__double_as_longlong(d) >> 48) - base;
        atomicAdd(&bins[(int)max(0LL, min(1023LL, bin))], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0, b = 0;
        while (b < 1024 && sum + bins[b] <= room) sum += bins[b++];
        cut = b;
    }
    __syncthreads();
    double limit = cut == 0 ? 0.0 : cut == 1024 ? INF : __longlong_as_double((base + cut) << 48);
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        if (j == here) continue;
        double d = block_distance(selected, n_s, n, here, j);
        if (which == 0) d = larger(d, block_distance(target, n_t, n, here, j));
        if (d < limit || (cut == 1024)) {
            int at = atomicAdd(&filled, 1);
            some_key[at] = d;
            some_index[at] = j;
        }
    }
    __syncthreads();
    for (int size = 2; size <= room; size <<= 1)  // bitonic sort
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            for (int i = threadIdx.x; i < room; i += blockDim.x) {
                int other = i ^ stride;
                if (other > i) {
                    bool rising = (i & size) == 0;
                    if ((some_key[i] > some_key[other]) == rising && some_key[i] != some_key[other]) {
                        double d = some_key[i];
                        some_key[i] = some_key[other];
                        some_key[other] = d;
                        int j = some_index[i];
                        some_index[i] = some_index[other];
                        some_index[other] = j;
                    }
                }
            }
            __syncthreads();
        }
    size_t start = (size_t)blockIdx.x * room;
    for (int i = threadIdx.x; i < min(room, filled + 4); i += blockDim.x) {
        int j = some_index[i];
        index[start + i] = j;
        key[start + i] = some_key[i];
        if (which == 0) {
            // What is infinitely far, padding or another category, stays so.
            in_s[start + i] = some_key[i] < INF ? block_distance(selected, n_s, n, here, j) : INF;
            in_y[start + i] = some_key[i] < INF ? block_distance(target, n_t, n, here, j) : INF;
        }
    }
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = filled;
        limits[blockIdx.x] = limit;
    }
}

__device__ __forceinline__ int count_keys(const double *key, int m, double radius, int &from)
{
    int low = from, high = m;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (key[middle] < radius) low = middle + 1;
        else high = middle;
    }
    from = low;
    return low + 1;  // and the sample itself
}

// What a warp does with each sample j whose key is at least ``from`` and below what any lane asks
// for: distances of 32 samples at a time, a lane each, then one after the other for all lanes.
template <bool BOTH, typename Bound, typename Meet>
__device__ __forceinline__ void meet_all(const double *selected, int n_s, const double *target, int n_t,
                                         int n, int here, double from, Bound bound, Meet meet)
{
    int lane = threadIdx.x & 31;
    for (int start = 0; start < n; start += 32) {
        int j = start + lane;
        double d_s = 0.0, d_y = 0.0, key = INF;
        if (j < n && j != here) {
            d_s = block_distance(selected, n_s, n, here, j);
            d_y = BOTH ? block_distance(target, n_t, n, here, j) : 0.0;
            key = larger(d_s, d_y);
        }
        double most = of_all(bound());
        unsigned wanted = __ballot_sync(ALL, key >= from && key < most);
        MET(__popc(wanted))
        while (wanted) {
            int source = __ffs(wanted) - 1;
            wanted &= wanted - 1;
            meet(start + source, __shfl_sync(ALL, d_s, source), __shfl_sync(ALL, d_y, source));
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
given(const double *stripes, const double *selected, int n_s, const double *target, int n_t,
      const double *sorted_y, int n, int first, int total, int first_point, int n_points, int points,
      int room_j, const int *index_j, const double *key_j, const double *in_s, const double *in_y,
      const int *count_j, const double *limit_j, int room_s, const int *index_s, const double *key_s,
      const int *count_s, const double *limit_s, const i64 *psi, i64 *sums)
{
    __shared__ i64 own[WARPS][HI][32];
    clear_sums(own);
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const double *x = stripes + (size_t)blockIdx.y * n * 32 + lane;
    i64 *mine = &own[warp][0][lane];
    for (int p = warp; p < points; p += WARPS) {
        int listed = blockIdx.x * points + p;
        if (listed >= n_points) break;
        int here = first_point + listed;
        double x0 = x[(size_t)here * 32];
        Nearest near;
        near.clear();
        const int *ij = index_j + (size_t)listed * room_j;
        const double *kj = key_j + (size_t)listed * room_j;
        const double *sj = in_s + (size_t)listed * room_j;
        const double *yj = in_y + (size_t)listed * room_j;
        int m = count_j[listed], i = 0;
        double limit = limit_j[listed];
        for (; i < m; i += 4) {  // lists are padded with samples infinitely far
            if (__all_sync(ALL, kj[i] >= near.last())) break;
            double other[4];
#pragma unroll
            for (int u = 0; u < 4; u++) other[u] = x[(size_t)ij[i + u] * 32];
#pragma unroll
            for (int u = 0; u < 4; u++)
                near.push(larger(joined(sj[i + u], step_of(other[u], x0)), yj[i + u]));
        }
        MET(min(i, m))
        if (i >= m && limit < INF && __any_sync(ALL, near.last() > limit))  // all the others
            meet_all<true>(
                selected, n_s, target, n_t, n, here, limit, [&] { return near.last(); },
                [&](int j, double d_s, double d_y) {
                    near.push(larger(joined(d_s, step_of(x[(size_t)j * 32], x0)), d_y));
                });
        Sides sides;
        sides.clear();
        int zeros = 1;
        if (RECTANGLE || __any_sync(ALL, near.at[0] == 0.0)) {
            double reach = near.reach();
            if (__any_sync(ALL, reach >= limit))
                meet_all<true>(
                    selected, n_s, target, n_t, n, here, 0.0, [&] { return next_up(reach); },
                    [&](int j, double d_s, double d_y) {
                        double d_a = joined(d_s, step_of(x[(size_t)j * 32], x0));
                        sides.cover(near, d_a, d_y);
                        zeros += d_a == 0.0 && d_y == 0.0;
                    });
            else
                for (i = 0; i < m; i++) {
                    if (__all_sync(ALL, kj[i] > reach)) break;
                    double d_a = joined(sj[i], step_of(x[(size_t)ij[i] * 32], x0));
                    sides.cover(near, d_a, yj[i]);
                    zeros += d_a == 0.0 && yj[i] == 0.0;
                }
        }
        Radii radii;
        set_radii(near, sides, zeros, n, psi, radii, mine);
        // Candidate and selected columns together.
        int n_a[HI];
        double widest = 0.0, widest_b = 0.0;
#pragma unroll
        for (int t = LO - 1; t < HI; t++) {
            n_a[t] = 1;
            widest = larger(widest, radii.a[t]);
            widest_b = larger(widest_b, radii.second(t));
        }
        double limit_a = limit_s[listed];
        const double *ks = key_s + (size_t)listed * room_s;
        int ms = count_s[listed];
        if (__any_sync(ALL, widest > limit_a)) {
            meet_all<false>(
                selected, n_s, target, n_t, n, here, 0.0, [&] { return widest; },
                [&](int j, double d_s, double) {
                    double d = joined(d_s, step_of(x[(size_t)j * 32], x0));
#pragma unroll
                    for (int t = LO - 1; t < HI; t++) n_a[t] += d < radii.a[t];
                });
        } else {
            const int *is = index_s + (size_t)listed * room_s;
            for (i = 0; i < ms; i += 4) {
                if (__all_sync(ALL, ks[i] >= widest)) break;
                double other[4];
#pragma unroll
                for (int u = 0; u < 4; u++) other[u] = x[(size_t)is[i + u] * 32];
#pragma unroll
                for (int u = 0; u < 4; u++) {
                    double d = joined(ks[i + u], step_of(other[u], x0));
#pragma unroll
                    for (int t = LO - 1; t < HI; t++) n_a[t] += d < radii.a[t];
                }
            }
            MET(min(i, ms))
        }
        // What is beside them.
#if CONDITIONAL
        if (__any_sync(ALL, widest > limit || widest > limit_a)) {
            int n_b[HI], n_c[HI];
#pragma unroll
            for (int t = LO - 1; t < HI; t++) n_b[t] = n_c[t] = 1;
            meet_all<false>(
                selected, n_s, target, n_t, n, here, 0.0, [&] { return widest; },
                [&](int j, double d_s, double) {
                    double d_j = larger(d_s, block_distance(target, n_t, n, here, j));
#pragma unroll
                    for (int t = LO - 1; t < HI; t++) {
                        n_b[t] += d_j < radii.a[t];
                        n_c[t] += d_s < radii.a[t];
                    }
                });
#pragma unroll
            for (int t = LO - 1; t < HI; t++)
                mine[32 * t] += psi[n_c[t]] - psi[n_a[t]] - psi[n_b[t]];
        } else {
            int from_j = 0, from_s = 0;
#pragma unroll
            for (int t = LO - 1; t < HI; t++) {
                int n_b = count_keys(kj, m, radii.a[t], from_j);
                int n_c = count_keys(ks, ms, radii.a[t], from_s);
                mine[32 * t] += psi[n_c] - psi[n_a[t]] - psi[n_b];
            }
        }
#else
        if (n_t == 1) {
            double y0 = target[here];
            int place = place_of(sorted_y, n, y0), first_y = place, last_y = place;
#pragma unroll
            for (int t = LO - 1; t < HI; t++) {
                if (RECTANGLE) first_y = last_y = place;  // the second radii need not rise with K
                int n_b = count_sorted(sorted_y, n, y0, radii.second(t), SQUARED, first_y, last_y);
                mine[32 * t] -= psi[n_a[t] - radii.itself(t)] + psi[n_b - radii.itself(t)];
            }
        } else {
            int n_b[HI];
#pragma unroll
            for (int t = LO - 1; t < HI; t++) n_b[t] = 1;
            meet_all<false>(
                target, n_t, target, n_t, n, here, 0.0, [&] { return widest_b; },
                [&](int, double d_y, double) {
#pragma unroll
                    for (int t = LO - 1; t < HI; t++) n_b[t] += d_y < radii.second(t);
                });
#pragma unroll
            for (int t = LO - 1; t < HI; t++)
                mine[32 * t] -= psi[n_a[t] - radii.itself(t)] + psi[n_b[t] - radii.itself(t)];
        }
#endif
    }
    add_up(own, first, total, sums);
}

// ---- local false neighbours ------------------------------------------------------------------------

// Samples are in the order of the first target. The nearest in the space of feature and targets, of
// several (within EQUAL) the nearest along the feature; then those that the feature puts closer.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
false_neighbors(const double *stripes, const double *targets, int n_t, const double *sorted,
                const int *order, int n, int first, int total, int points, i64 *out)
{
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int c = first + 32 * blockIdx.y + lane;
    const double *x = stripes + (size_t)blockIdx.y * n * 32 + lane;
    const double *ordered = sorted + (size_t)min(c, total - 1) * n;
    for (int p = warp; p < points; p += WARPS) {
        int here = blockIdx.x * points + p;
        if (here >= n) break;
        double x0 = x[(size_t)here * 32], y0 = targets[here];
        double nearest = INF, beside = INF;
        for (int pass = 0; pass < 2; pass++) {
            double bound = nearest * (1 + EQUAL);
            int left = here - 1, right = here + 1;
            while (left >= 0 || right < n) {
                double d_left = left >= 0 ? y0 - targets[left] : INF;
                double d_right = right < n ? targets[right] - y0 : INF;
                bool down = d_left <= d_right;
                double d_y = down ? d_left : d_right;
                bool beyond = pass == 0 ? d_y * d_y >= nearest : d_y * d_y > bound;
                if (__all_sync(ALL, beyond)) break;
                int j = down ? left : right;
                double gap = fabs(x[(size_t)j * 32] - x0), square = gap * gap;
                for (int t = 0; t < n_t; t++) {
                    double d = targets[(size_t)t * n + j] - targets[(size_t)t * n + here];
                    square = square + d * d;
                }
                if (pass == 0) nearest = square < nearest ? square : nearest;
                else if (square <= bound && gap < beside) beside = gap;
                if (down) left--;
                else right++;
            }
        }
        double radius = beside * (1 - EQUAL);
        int place = place_of(ordered, n, x0), begin = place, end = place;
        int closer = radius > 0.0 ? count_sorted(ordered, n, x0, radius, false, begin, end) - 1 : 0;
        if (c < total) out[(size_t)c * n + order[here]] = closer;
    }
}
