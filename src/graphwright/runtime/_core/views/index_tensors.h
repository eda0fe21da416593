/* What picks elements in a subscript: tensors, arrays and lists of positions, and masks. */
#ifndef GRAPHWRIGHT_POSITIONS_H
#define GRAPHWRIGHT_POSITIONS_H

#include "native.h"

typedef struct {
    PyObject *indices[GW_MAX_DIMS];     /* owned; tensors of positions by dim, or NULL */
    int count;                          /* of tensors */
    int dims;                           /* that are set */
} GwPositions;

void gw_positions_begin(GwPositions *p);
void gw_positions_end(GwPositions *p);

/* `n` dims from `d` on that nothing is picked of. */
void gw_positions_skip(GwPositions *p, int d, int n);

/* How many dims an item of a subscript stands for. */
int gw_positions_dims(PyObject *item);
bool gw_is_positions(PyObject *item);

/* Sets the positions that an item picks from dim `d` on, of dims of these sizes; how many those
 * were, 0 where only the rules in Python know. */
int gw_positions_take(GwPositions *p, PyTypeObject *cls, PyObject *item, int d,
                      const int64_t *sizes, int ndim);

/* The tensors, and None where there is none, of the first dims. A new reference. */
PyObject *gw_positions_tuple(const GwPositions *p, int ndim);

/* A tensor or NumPy number of one position as an int; another item as it is. A new reference. */
PyObject *gw_position_number(PyObject *item);

#endif
