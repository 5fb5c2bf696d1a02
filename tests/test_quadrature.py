"""Integrated gradients' integral on answers whose weights are known: made of functions, no model in sight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from theodolite.encoder.quadrature import MOST_STEPS, PLACES, integrated


class Made:
    """Texts of two tokens, whose answers rise as two sigmoids along the way; counts what is asked."""

    def __init__(self, texts):
        # (n, 2, 3): of each token how much it rises, where, and how steeply.
        self.texts, self.calls, self.asked = np.array(texts, float), 0, 0

    def answer(self, text, place):
        rise, where, steep = self.texts[text].T
        return float((rise / (1 + np.exp(-steep * (place - where)))).sum())

    def products(self, text, place):
        rise, where, steep = self.texts[text].T
        curve = 1 / (1 + np.exp(-steep * (place - where)))
        return rise * steep * curve * (1 - curve)

    def along(self, texts, places):
        self.calls, self.asked = self.calls + 1, self.asked + len(texts)
        pairs = list(zip(texts.tolist(), places.tolist(), strict=True))
        values = np.array([self.answer(*pair) for pair in pairs])
        return values, [self.products(*pair).astype(np.float32) for pair in pairs]

    def true_weights(self, text):
        return np.array([quad(lambda x, i=i: self.products(text, x)[i], 0, 1, limit=200)[0] for i in range(2)])


rises = st.tuples(st.floats(0.1, 3), st.floats(0.05, 0.95), st.floats(1, 60))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(rises, rises), min_size=1, max_size=4))
def test_weights_add_up_and_are_those_of_the_integral(texts):
    made = Made(texts)
    weights, steps, error = integrated(len(texts), made.along, None)
    for text, (mine, taken, told) in enumerate(zip(weights.reshape(-1, 2), steps, error, strict=True)):
        change = made.answer(text, 1.0) - made.answer(text, 0.0)
        assert told == pytest.approx(abs(mine.sum() - change) / max(abs(change), 0.01), abs=1e-5)
        assert told < 0.01
        assert taken <= MOST_STEPS
        # Each token's own share, not only their sum; what all stretches miss, signs aside, is within 4%.
        np.testing.assert_allclose(mine, made.true_weights(text), atol=0.05 * change)


def test_one_text_does_not_change_another():
    """Places are a text's own: the same weights and steps alone as among others."""
    texts = [[(1, 0.4, 5), (0.5, 0.5, 8)], [(2, 0.2, 60), (-1, 0.8, 40)], [(0.1, 0.9, 3), (0.1, 0.1, 3)]]
    together = integrated(3, Made(texts).along, None)
    for text in range(3):
        weights, steps, error = integrated(1, Made([texts[text]]).along, None)
        assert weights.tolist() == together[0][2 * text : 2 * text + 2].tolist()
        assert (steps[0], error[0]) == (together[1][text], together[2][text])


def test_steps_go_where_the_answer_changes():
    """A sharp rise takes more steps than a gentle one, and most of them lie at it."""
    made = Made([[(1, 0.8, 4), (1, 0.3, 4)], [(1, 0.8, 200), (0, 0.5, 1)]])
    places = []
    along = made.along
    made_along = lambda texts, where: (places.extend(where[texts == 1].tolist()), along(texts, where))[1]  # noqa: E731
    _, steps, error = integrated(2, made_along, None)
    assert steps[0] == PLACES - 1 < steps[1]
    assert (error < 0.01).all()
    later = np.array(places[steps[0] + 1 :])
    assert (np.abs(later - 0.8) < 0.2).mean() > 0.8
    assert made.asked == steps.sum() + 2


def test_what_never_adds_up_ends_and_is_told():
    """An answer that jumps has no gradient there: no number of steps finds its change."""

    def along(texts, places):
        return (places > 1 / 3).astype(float), [np.zeros(1, np.float32)] * len(texts)

    weights, steps, error = integrated(1, along, None)
    assert (weights.tolist(), error.tolist()) == ([0.0], [1.0])
    assert PLACES < steps[0] <= MOST_STEPS


def test_an_answer_that_is_no_number_ends():
    def along(texts, places):
        return np.full(len(texts), np.nan), [np.zeros(1, np.float32)] * len(texts)

    assert np.isnan(integrated(1, along, None)[2]).all()


def test_steps_given_are_gauss_and_legendres():
    """Exact for what a polynomial of degree 2n - 1 is, and not for more."""

    def along(texts, places):
        exact = places.astype(float)
        return exact**8, [np.array([8 * x**7]) for x in exact]

    for steps, holds in ((4, True), (2, False)):
        weights, taken, error = integrated(1, along, steps)
        assert taken.tolist() == [steps]
        assert (abs(float(weights[0]) - 1) < 1e-6) == holds
        assert error[0] == pytest.approx(abs(float(weights[0]) - 1), abs=1e-6)
