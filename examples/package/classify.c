/* Reads digits, and says how many of those that were not learnt it reads right.
 *
 *     classify FOLDER WEIGHTS */
#include "classify.h"
#include "digits.h"

int main(int argc, char **argv) {
    char path[4096];
    Digits digits = {0, 0, NULL, NULL};
    classify *model = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: classify FOLDER WEIGHTS\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/digits.bin", argv[1]);
    int failed = read_digits(path, &digits);
    if (!failed) {
        int64_t shape[] = {digits.tested, 1, 8, 8};
        gw_tensor images = {digits.images + digits.learnt * 64, shape, 4}, found = {NULL, NULL, 0};
        failed = classify_create(&model, argv[2], 1, 0) || classify_run(model, &images, &found);
        if (failed) {
            fprintf(stderr, "%s\n", classify_error(model));
        } else {
            int64_t right = 0;
            for (int64_t i = 0; i < digits.tested; i++) {
                right += ((int64_t *)found.data)[i] == digits.labels[digits.learnt + i];
            }
            printf("%.4f\n", (double)right / (double)digits.tested);
        }
    }
    classify_free(model);
    free_digits(&digits);
    return failed;
}
