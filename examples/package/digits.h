/* The images that digits.py writes. */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int64_t learnt, tested;     /* how many images to learn from, and to test on behind them */
    float *images;              /* [learnt + tested][64] */
    int64_t *labels;
} Digits;

static int read_digits(const char *path, Digits *digits) {
    FILE *file = fopen(path, "rb");
    int64_t counts[2];
    if (file == NULL || fread(counts, sizeof counts, 1, file) != 1 || counts[0] < 0
        || counts[1] < 0 || counts[0] > 100000 || counts[1] > 100000) {
        fprintf(stderr, "%s has no images\n", path);
        if (file != NULL) {
            fclose(file);
        }
        return 1;
    }
    size_t all = (size_t)(counts[0] + counts[1]);
    digits->learnt = counts[0];
    digits->tested = counts[1];
    digits->images = malloc(all * 64 * sizeof *digits->images + 1);
    digits->labels = malloc(all * sizeof *digits->labels + 1);
    int failed = digits->images == NULL || digits->labels == NULL
                 || fread(digits->images, 64 * sizeof *digits->images, all, file) != all
                 || fread(digits->labels, sizeof *digits->labels, all, file) != all;
    fclose(file);
    if (failed) {
        fprintf(stderr, "%s is cut short\n", path);
    }
    return failed;
}

static void free_digits(Digits *digits) {
    free(digits->images);
    free(digits->labels);
}

#endif
