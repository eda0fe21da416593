/* Orders of lines of one element type. Included with T (elements), U (unsigned, of the same size),
 * KEY(x) (an unsigned that is in order as the elements are, NaN last) and NAME(x) defined. */

typedef struct {
    U key;
    uint32_t place;
} NAME(Item);

/* The keys of a line with their places; turned over where the greatest come first. */
static void NAME(read_line)(const Sorting *s, const char *line, NAME(Item) *items) {
    U turn = s->descending ? (U)-1 : 0;
    for (int64_t i = 0; i < s->n; i++) {
        items[i] = (NAME(Item)){KEY(*(const T *)(line + i * s->step)) ^ turn, (uint32_t)i};
    }
}

/* Sorts by the keys, of equal ones the first comes first: a digit after the other, the lowest
 * first. Digits that are the same everywhere are passed over. Returns where the result lies. */
static NAME(Item) *NAME(sort_items)(NAME(Item) *items, NAME(Item) *other, int64_t n) {
    enum { DIGITS = sizeof(U) };
    uint32_t counts[DIGITS][256];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < DIGITS; d++) {
            counts[d][(items[i].key >> (8 * d)) & 255]++;
        }
    }
    for (int d = 0; d < DIGITS; d++) {
        if (counts[d][(items[0].key >> (8 * d)) & 255] == (uint32_t)n) {
            continue;
        }
        uint32_t starts[256], total = 0;
        for (int digit = 0; digit < 256; digit++) {
            starts[digit] = total;
            total += counts[d][digit];
        }
        for (int64_t i = 0; i < n; i++) {
            other[starts[(items[i].key >> (8 * d)) & 255]++] = items[i];
        }
        NAME(Item) *sorted = other;
        other = items;
        items = sorted;
    }
    return items;
}

/* `memory` holds two lines of items. */
static void NAME(sort_line)(const Sorting *s, const char *line, int64_t *out, void *memory) {
    NAME(Item) *items = memory;
    NAME(read_line)(s, line, items);
    NAME(Item) *sorted = NAME(sort_items)(items, items + s->n, s->n);
    for (int64_t i = 0; i < s->count; i++) {
        out[i * s->out_step] = sorted[i].place;
    }
}

/* Whether a comes before b. */
static inline bool NAME(before)(NAME(Item) a, NAME(Item) b) {
    return a.key < b.key || (a.key == b.key && a.place < b.place);
}

/* Puts an item into a heap of n whose root comes last, in the place of what was at `at`. */
static void NAME(sift)(NAME(Item) *heap, int64_t n, int64_t at, NAME(Item) item) {
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= n) {
            break;
        }
        child += child + 1 < n && NAME(before)(heap[child], heap[child + 1]);
        if (!NAME(before)(item, heap[child])) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

/* The first `count` of the order by a heap of those found so far: few elements get past its root.
 */
static void NAME(pick_line)(const Sorting *s, const char *line, int64_t *out, void *memory) {
    NAME(Item) *heap = memory;
    U turn = s->descending ? (U)-1 : 0;
    int64_t k = s->count;
    for (int64_t i = 0; i < k; i++) {
        heap[i] = (NAME(Item)){KEY(*(const T *)(line + i * s->step)) ^ turn, (uint32_t)i};
    }
    for (int64_t i = k / 2 - 1; i >= 0; i--) {
        NAME(sift)(heap, k, i, heap[i]);
    }
    for (int64_t i = k; i < s->n; i++) {
        U key = KEY(*(const T *)(line + i * s->step)) ^ turn;
        if (key < heap[0].key) {
            NAME(sift)(heap, k, 0, (NAME(Item)){key, (uint32_t)i});
        }
    }
    for (int64_t i = k - 1; i >= 0; i--) {
        out[i * s->out_step] = heap[0].place;
        NAME(sift)(heap, i, 0, heap[i]);
    }
}

#undef NAME
#undef KEY
#undef T
#undef U
