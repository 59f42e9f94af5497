"""The likest two stories become one, again and again; then the tree of these joins is cut where it is stable."""

from __future__ import annotations

import heapq

import numpy as np

from doccluster.base.compiled import jit

NEAREST = 0.2  # share of the likest pair in the likeness of two stories; the rest is the mean of all their pairs
GROWTH = 0.25  # the mean of n pairs counts n ** GROWTH times: many weak links say more than one
SEVERAL = 3  # articles of each side of a join that can be undone


@jit(inner=True)
def count_pairs(first, second, window):
    """Return how many pairs of two sorted arrays of times lie within the window."""
    if first[-1] - second[0] <= window and second[-1] - first[0] <= window:
        return first.size * second.size
    n_pairs, low, high = 0, 0, 0
    for time in first:
        while low < second.size and second[low] < time - window:
            low += 1
        while high < second.size and second[high] <= time + window:
            high += 1
        n_pairs += high - low
    return n_pairs


@jit(inner=True)
def current(story, joined_into):
    """Return the story that one has become part of by now."""
    while joined_into[story] != story:
        joined_into[story] = joined_into[joined_into[story]]
        story = joined_into[story]
    return story


@jit(inner=True)
def likeness_of_stories(total, greatest, n_pairs, young):
    """Return .8 x the mean of n pairs x n^.25 + .2 x the greatest, less where few pairs speak for it."""
    mean = total / n_pairs * n_pairs**GROWTH
    return ((1 - NEAREST) * mean + NEAREST * greatest) / (1 + young / n_pairs)


@jit(inner=True)
def sorted_together(first, second):
    """Return the values of two sorted arrays as one."""
    times, i, j = np.empty(first.size + second.size, first.dtype), 0, 0
    for place in range(times.size):
        if j == second.size or (i < first.size and first[i] <= second[j]):
            times[place] = first[i]
            i += 1
        else:
            times[place] = second[j]
            j += 1
    return times


@jit
def join_stories(starts, neighbours, likeness, times, window, bar, young):
    """Join the likest two stories until none reach the bar; return the two of each join, and how like they were.

    `starts`, `neighbours`, `likeness`: the rows of a symmetric csr array of n articles. The joins make the stories n,
    n + 1, ...; below that a story is one article. `young`: the share by which a single pair counts less.
    """
    n = starts.size - 1
    joined_into, is_there = np.arange(2 * n), np.zeros(2 * n, np.bool_)
    is_there[:n] = True
    # of each story: which stories it has links to, the sum of these and the greatest, and its times
    near = [neighbours[starts[i] : starts[i + 1]].astype(np.int64) for i in range(n)]
    totals = [likeness[starts[i] : starts[i + 1]].astype(np.float64) for i in range(n)]
    greatest = [total.copy() for total in totals]
    moments = [times[i : i + 1].copy() for i in range(n)]
    nothing = np.zeros(0, np.int64), np.zeros(0, np.float64), np.zeros(0, times.dtype)
    heap = [(0.0, 0, 0)]
    heap.clear()
    for i in range(n):
        for place in range(starts[i], starts[i + 1]):
            value = likeness_of_stories(likeness[place], likeness[place], 1, young)
            if neighbours[place] < i and value >= bar:
                heap.append((-np.float64(value), np.int64(neighbours[place]), np.int64(i)))
    heapq.heapify(heap)
    firsts, seconds, heights = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64)
    place_of, new = np.full(2 * n, -1), n
    while len(heap):
        score, first, second = heapq.heappop(heap)
        if not (is_there[first] and is_there[second]):
            continue
        firsts[new - n], seconds[new - n], heights[new - n] = first, second, -score
        is_there[first] = is_there[second] = False
        is_there[new] = True
        joined_into[first] = joined_into[second] = new
        room = near[first].size + near[second].size
        stories, total, largest, n_near = np.empty(room, np.int64), np.zeros(room), np.zeros(room), 0
        for side in (first, second):
            for place in range(near[side].size):
                third = current(near[side][place], joined_into)
                if third == new:
                    continue
                at = place_of[third]
                if at < 0:
                    at = place_of[third] = n_near
                    stories[at] = third
                    n_near += 1
                total[at] += totals[side][place]
                largest[at] = max(largest[at], greatest[side][place])
        times_of_both = sorted_together(moments[first], moments[second])
        for side in (first, second):
            near[side], totals[side], greatest[side], moments[side] = nothing[0], nothing[1], nothing[1], nothing[2]
        near.append(stories[:n_near].copy())
        totals.append(total[:n_near].copy())
        greatest.append(largest[:n_near].copy())
        moments.append(times_of_both)
        for at in range(n_near):
            third = stories[at]
            place_of[third] = -1
            n_pairs = count_pairs(times_of_both, moments[third], window)
            if n_pairs:
                value = likeness_of_stories(total[at], largest[at], n_pairs, young)
                if value >= bar:
                    heapq.heappush(heap, (-value, third, np.int64(new)))
        new += 1
    return firsts[: new - n], seconds[: new - n], heights[: new - n]


@jit
def cut_where_stable(n, firsts, seconds, heights, bar):
    """Return the story of each article: a branch of the tree is one story where its life is longer than its parts'.

    The life of a story is the sum, over its articles, of the likeness that it spans; it goes on while it takes in fewer
    than `SEVERAL` articles at a time.
    """
    n_nodes = n + firsts.size
    size, above = np.ones(n_nodes, np.int64), np.full(n_nodes, -1)
    height, life = np.full(n_nodes, np.inf), np.zeros(n_nodes)
    parts, best = np.zeros(n_nodes), np.zeros(n_nodes)
    for node in range(n, n_nodes):
        first, second = firsts[node - n], seconds[node - n]
        above[first] = above[second] = node
        size[node] = size[first] + size[second]
        # joined stories can be liker than their parts were: the tree then has no step there
        height[node] = min(heights[node - n], height[first], height[second])
    for node in range(n, n_nodes):
        first, second = firsts[node - n], seconds[node - n]
        life[node] = size[node] * (height[node] - (height[above[node]] if above[node] >= 0 else bar))
        if min(size[first], size[second]) >= SEVERAL:
            parts[node] = best[first] + best[second]
        else:
            larger = first if size[first] >= size[second] else second
            parts[node] = parts[larger]
            life[node] += life[larger]
        best[node] = max(life[node], parts[node])
    story = np.arange(n_nodes)
    for node in range(n_nodes - 1, -1, -1):
        parent = above[node]
        if parent >= 0 and (life[parent] >= parts[parent] or story[parent] != parent):
            story[node] = story[parent]
    return story[:n]
