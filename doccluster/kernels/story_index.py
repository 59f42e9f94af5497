"""Postings of growing stories: for each term, the stories that have it and its weight in each of three fields.

A list lies in one stretch of an arena and moves to the end of it, with twice the room, when it is full; the room it
leaves is taken back when the index is built anew. The sums are float64, so a story has the same sums, bit for bit,
whenever its documents are added in the same order, however its postings came to lie.
"""

from __future__ import annotations

import numpy as np

from doccluster.kernels.jit import jit

NEXT, END = 0, 1  # of the state: the term to go on with, the first free place of the arena


@jit
def add_products(terms, values, starts, lengths, slots, weights, products):
    """Add the products of a document with all stories, by field, to `products` (stories, 3)."""
    for i in range(terms.size):
        term = terms[i]
        if term >= starts.size:
            continue
        a, b, c = np.float64(values[i, 0]), np.float64(values[i, 1]), np.float64(values[i, 2])
        for place in range(starts[term], starts[term] + lengths[term]):
            slot = slots[place]
            products[slot, 0] += a * weights[place, 0]
            products[slot, 1] += b * weights[place, 1]
            products[slot, 2] += c * weights[place, 2]


@jit
def add_document(terms, values, factor, slot, starts, lengths, rooms, slots, weights, squares, state):
    """Add `factor` times a document to the sums of a story and their squared norms; return whether there was room.

    Where there was none, the arena must be made larger, and the call goes on where it stopped.
    """
    while state[NEXT] < terms.size:
        i = state[NEXT]
        term = terms[i]
        place = starts[term]
        end = place + lengths[term]
        while place < end and slots[place] != slot:
            place += 1
        if place == end:
            if lengths[term] == rooms[term]:
                room = max(np.int64(2), 2 * rooms[term])
                if state[END] + room > slots.size:
                    return False
                for offset in range(lengths[term]):
                    slots[state[END] + offset] = slots[starts[term] + offset]
                    for field in range(3):
                        weights[state[END] + offset, field] = weights[starts[term] + offset, field]
                starts[term] = state[END]
                rooms[term] = room
                state[END] += room
                place = starts[term] + lengths[term]
            slots[place] = slot
            for field in range(3):
                weights[place, field] = 0.0
            lengths[term] += 1
        for field in range(3):
            before = weights[place, field]
            after = before + factor * np.float64(values[i, field])
            weights[place, field] = after
            squares[slot, field] += after * after - before * before
        state[NEXT] += 1
    return True


@jit
def keep_slots(new_slot, starts, lengths, rooms, slots, weights, kept_slots, kept_weights):
    """Copy the postings of the slots that stay (`new_slot` >= 0) to a new arena, and return its first free place."""
    end = 0
    for term in range(starts.size):
        begin = end
        for place in range(starts[term], starts[term] + lengths[term]):
            slot = new_slot[slots[place]]
            if slot >= 0:
                kept_slots[end] = slot
                for field in range(3):
                    kept_weights[end, field] = weights[place, field]
                end += 1
        starts[term] = begin
        lengths[term] = end - begin
        rooms[term] = end - begin
    return end


@jit
def upper_bounds(
    products, squares, has_field, lasts, firsts, counts, least, usable, moment, scale, cut, coefficients, bounds
):
    """Write an upper bound of the join score of a document with each story, -inf where it cannot reach `cut`.

    The bound is the score with the greatest cosine that the document can have with one of the newest members: their
    vectors are part of the sum, so that cosine is at most the product with the sum over the least weight of theirs.
    """
    for slot in range(bounds.size):
        bounds[slot] = -np.inf
        if not usable[slot] or products[slot, 1] <= 0.0:
            continue
        both = products[slot, 1] / np.sqrt(squares[slot, 1])
        title, names = both, both
        if has_field[0] and squares[slot, 0] > 0.0:
            title = products[slot, 0] / np.sqrt(squares[slot, 0])
        if has_field[2] and squares[slot, 2] > 0.0:
            names = products[slot, 2] / np.sqrt(squares[slot, 2])
        near = min(1.0, products[slot, 1] / least[slot])
        score = coefficients[0] + coefficients[1] * title + coefficients[2] * both + coefficients[3] * names
        score += max(0.0, coefficients[4]) * near + coefficients[8] / min(counts[slot], 100.0)
        most = max(0.0, coefficients[5]) + max(0.0, coefficients[6]) + max(0.0, coefficients[7]) * both
        if score + most < cut:
            continue
        late, early = (moment - lasts[slot]) / scale, (moment - firsts[slot]) / scale
        last, first = np.exp(-0.5 * late * late), np.exp(-0.5 * early * early)
        score += coefficients[5] * last + coefficients[6] * first + coefficients[7] * both * last
        bounds[slot] = score
