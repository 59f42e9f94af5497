"""Postings of growing stories: for each term, the stories that have it and its weight in each of three fields.

A list lies in one stretch of an arena and moves to the end of it, with twice the room, when it is full; the room it
leaves is taken back when the index is built anew. The sums are float64, so a story has the same sums, bit for bit,
whenever its documents are added in the same order, however its postings came to lie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit

BLOCK = 32  # places of a list that are compared at once
START, LENGTH, ROOM = 0, 1, 2  # of a list, next to one another in memory
LESS = 1 - 1e-12  # squares that differ by more are those of numbers of which the same is less, however rounded
NEXT, END = 0, 1  # of the state: the term to go on with, the first free place of the arena


class Postings(NamedTuple):
    """The stories of each term."""

    lists: Any  # int64 array of shape (n_terms, 3): START, LENGTH and ROOM of each list
    slots: Any  # int32 array of shape (n_places,), stories
    weights: Any  # float64 array of shape (3, n_places), by field


@jit
def add_products(terms, values, postings, products, has_field):
    """Add the products of a document with all stories, by field, to `products` (3, slots); note which fields it has.

    Most terms of a document are neither in its title nor names: the arrays of these fields are not touched for them.
    """
    lists, slots, weights = postings
    for i in range(terms.size):
        term = terms[i]
        for field in range(3):
            value = np.float64(values[i, field])
            if value == 0.0:
                continue
            has_field[field] = True
            if term < len(lists):
                begin, end = lists[term, START], lists[term, START] + lists[term, LENGTH]
                stories, own, found = slots[begin:end], weights[field, begin:end], products[field]
                for place in range(stories.size):
                    found[np.uint32(stories[place])] += value * own[place]  # a number with a sign is looked at first


@jit(inner=True)
def find_slot(stories, slot):
    """Return the place of a slot among others, or their number; blocks are compared without a way out."""
    place = 0
    while place + BLOCK <= stories.size:
        block = stories[place : place + BLOCK]
        is_here = False
        for offset in range(BLOCK):
            is_here |= block[offset] == slot
        if is_here:
            break
        place += BLOCK
    while place < stories.size and stories[place] != slot:
        place += 1
    return place


@jit
def add_document(terms, values, factor, slot, postings, squares, state):
    """Add `factor` times a document to the sums of a story and their squared norms; return whether there was room.

    Where there was none, the arena must be made larger, and the call goes on where it stopped.
    """
    lists, slots, weights = postings
    is_new = state[NEXT] == 0 and squares[slot, 0] + squares[slot, 1] + squares[slot, 2] == 0.0  # in no list
    own = np.int32(slot)
    while state[NEXT] < terms.size:
        i = state[NEXT]
        term = terms[i]
        end = lists[term, START] + lists[term, LENGTH]
        place = end if is_new else lists[term, START] + find_slot(slots[lists[term, START] : end], own)
        if place == end:
            if lists[term, LENGTH] == lists[term, ROOM]:
                room = lists[term, LENGTH] + lists[term, LENGTH] // 2 + 2
                if state[END] + room > slots.size:
                    return False
                for offset in range(lists[term, LENGTH]):
                    slots[state[END] + offset] = slots[lists[term, START] + offset]
                    for field in range(3):
                        weights[field, state[END] + offset] = weights[field, lists[term, START] + offset]
                lists[term, START] = state[END]
                lists[term, ROOM] = room
                state[END] += room
                place = lists[term, START] + lists[term, LENGTH]
            slots[place] = slot  # its weights are 0: no place of an arena is used twice
            lists[term, LENGTH] += 1
        for field in range(3):
            value = np.float64(values[i, field])
            if value != 0.0:
                before = weights[field, place]
                after = before + factor * value
                weights[field, place] = after
                squares[slot, field] += after * after - before * before
        state[NEXT] += 1
    return True


@jit
def add_scattered(terms, values, factor, scattered):
    """Add `factor` times the values, of all words, of a document to an array by term."""
    for i in range(terms.size):
        scattered[terms[i]] += factor * np.float64(values[i, 1])


@jit
def product_with_scattered(terms, values, scattered):
    """Return the product, of all words, of a document with one whose values are written by term in `scattered`."""
    total = 0.0
    for i in range(terms.size):
        total += scattered[terms[i]] * np.float64(values[i, 1])
    return total


@jit
def keep_slots(new_slot, postings, kept_slots, kept_weights):
    """Copy the postings of the slots that stay (`new_slot` >= 0) to a new arena, and return its first free place.

    A list has room for a quarter more: otherwise the next document would move every list that it adds to.
    """
    lists, slots, weights = postings
    end = 0
    for term in range(len(lists)):
        begin = end
        for place in range(lists[term, START], lists[term, START] + lists[term, LENGTH]):
            slot = new_slot[slots[place]]
            if slot >= 0:
                kept_slots[end] = slot
                for field in range(3):
                    kept_weights[field, end] = weights[field, place]
                end += 1
        lists[term, START] = begin
        lists[term, LENGTH] = end - begin
        end += (end - begin) // 4
        lists[term, ROOM] = end - begin
    return end


@jit
def find_leaders(products, squares, usable, besides, leaders):
    """Write the two greatest cosines of all words that a document has with usable stories, left out `besides`."""
    leaders[0] = 0.0
    leaders[1] = 0.0
    for slot in range(usable.size):
        product = products[1, slot]
        if not usable[slot] or product <= 0.0:
            continue
        if product * product < LESS * leaders[1] * leaders[1] * squares[slot, 1]:  # a root takes longer
            continue
        is_left_out = False
        for i in range(besides.size):
            is_left_out = is_left_out or besides[i] == slot
        if is_left_out:
            continue
        cosine = product / np.sqrt(squares[slot, 1])
        if cosine > leaders[0]:
            leaders[1] = leaders[0]
            leaders[0] = cosine
        elif cosine > leaders[1]:
            leaders[1] = cosine
