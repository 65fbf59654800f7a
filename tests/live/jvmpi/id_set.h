/* A set of 64-bit ids with a number each, for profilers in C. Not 0, the empty slot. Threads: the caller's lock. */
#ifndef JTRACE_TESTS_JVMPI_ID_SET_H
#define JTRACE_TESTS_JVMPI_ID_SET_H

#include <stdint.h>
#include <stdlib.h>

struct id_entry {
  uint64_t id;
  uint64_t number; /* 0: taken out again */
};
struct id_set {
  struct id_entry* entries;
  size_t room, used;
};

static struct id_entry* id_slot(const struct id_set* set, uint64_t id) {
  size_t at = (size_t)(id * 0x9e3779b97f4a7c15u >> 17) & (set->room - 1);
  while (set->entries[at].id != 0 && set->entries[at].id != id) at = (at + 1) & (set->room - 1);
  return &set->entries[at];
}

static uint64_t id_number(const struct id_set* set, uint64_t id) {
  return set->room == 0 ? 0 : id_slot(set, id)->number;
}

static void id_put(struct id_set* set, uint64_t id, uint64_t number) {
  struct id_entry* slot;
  if (2 * set->used >= set->room) {
    struct id_set bigger = {NULL, set->room == 0 ? 1024 : 2 * set->room, set->used};
    bigger.entries = calloc(bigger.room, sizeof *bigger.entries);
    if (bigger.entries == NULL) abort();
    for (size_t i = 0; i < set->room; i++)
      if (set->entries[i].id != 0) *id_slot(&bigger, set->entries[i].id) = set->entries[i];
    free(set->entries);
    *set = bigger;
  }
  slot = id_slot(set, id);
  if (slot->id == 0) set->used++;
  slot->id = id;
  slot->number = number;
}

#endif
