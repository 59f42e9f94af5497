"""Postings of articles: for each term, the slots of the articles that have it, and its weight in each.

A list lies in one stretch of an arena and moves to the end of it, with more room, when it is full; the room it leaves
is taken back when the arena is packed. Products are added up term by term, in the order of the document that is asked
for, so they are the same, bit for bit, however the postings came to lie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from doccluster.kernels.jit import jit

START, LENGTH, ROOM = 0, 1, 2  # of a list, next to one another in memory
PARTS = 2.0**40  # of 1
NEXT, END = 0, 1  # of the state: the term to go on with, the first free place of the arena


class Postings(NamedTuple):
    """The articles of each term."""

    lists: Any  # int64 array of shape (n_terms, 3): START, LENGTH and ROOM of each list
    slots: Any  # int32 array of shape (n_places,), articles
    weights: Any  # float32 array of shape (n_places,)


@jit
def add_products(terms, values, postings, products):
    """Add the products of a document with all articles to `products`, by slot."""
    lists, slots, weights = postings
    for i in range(terms.size):
        if terms[i] < len(lists):
            begin, end = lists[terms[i], START], lists[terms[i], START] + lists[terms[i], LENGTH]
            articles, own, value = slots[begin:end], weights[begin:end], np.float64(values[i])
            for place in range(articles.size):  # a number with a sign is looked at first
                products[np.uint32(articles[place])] += value * np.float64(own[place])


@jit
def add_likeness(products, articles, usable, sums, nears):
    """Sum up the products of a document with articles by the places of their stories, and find the greatest of the new.

    Products are rounded to whole parts of 2^-40, so that the sums are the same in any order.
    """
    places, weights, are_newest = articles
    for slot in range(products.size):
        value = products[slot]
        place = places[slot]
        if value > 0 and usable[place]:
            sums[place] += np.rint(weights[slot] * value * PARTS) / PARTS
            if are_newest[slot] and value > nears[place]:
                nears[place] = value


@jit
def add_document(terms, values, slot, postings, state):
    """Add a document to the lists of its terms; return whether there was room.

    Where there was none, the arena must be made larger, and the call goes on where it stopped.
    """
    lists, slots, weights = postings
    while state[NEXT] < terms.size:
        i = state[NEXT]
        term = terms[i]
        if lists[term, LENGTH] == lists[term, ROOM]:
            room = lists[term, LENGTH] + lists[term, LENGTH] // 2 + 2
            if state[END] + room > slots.size:
                return False
            for offset in range(lists[term, LENGTH]):
                slots[state[END] + offset] = slots[lists[term, START] + offset]
                weights[state[END] + offset] = weights[lists[term, START] + offset]
            lists[term, START] = state[END]
            lists[term, ROOM] = room
            state[END] += room
        place = lists[term, START] + lists[term, LENGTH]
        slots[place] = slot
        weights[place] = values[i]
        lists[term, LENGTH] += 1
        state[NEXT] += 1
    return True


@jit
def keep_slots(is_kept, postings, kept_slots, kept_weights):
    """Copy the postings of the slots that stay to a new arena, and return its first free place.

    A list has room for a quarter more: otherwise the next document would move every list that it adds to.
    """
    lists, slots, weights = postings
    end = 0
    for term in range(len(lists)):
        begin = end
        for place in range(lists[term, START], lists[term, START] + lists[term, LENGTH]):
            if is_kept[slots[place]]:
                kept_slots[end] = slots[place]
                kept_weights[end] = weights[place]
                end += 1
        lists[term, START] = begin
        lists[term, LENGTH] = end - begin
        end += (end - begin) // 4
        lists[term, ROOM] = end - begin
    return end
