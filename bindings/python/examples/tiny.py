"""The tiny model that every language of bindings/ trains: on one machine all of them print the same
losses to the last bit. examples/tiny.c is the same in C.

usage: python3 tiny.py
"""

import struct

import numpy as np

import npagg

TASKS, POINTS, SAMPLES, D, STEPS = 4, 30, 2, 3, 100
OFFSETS, N_CTX = np.array([0, 6, 13, 21, POINTS]), np.array([3, 0, 5, 4])
RATE = 1 / 64


def draw_tasks():
    """x, y [N,1]: a task is y = a t / (1 + |t|), t = x - c, with its own a, c; x in [-2, 2]."""
    task = np.repeat(np.arange(TASKS), np.diff(OFFSETS))
    x = 4 * npagg.noise.uniform(2, 0, POINTS) - 2
    a, c = npagg.noise.uniform(2, 1, TASKS)[task], npagg.noise.uniform(2, 2, TASKS)[task]
    t = x - c
    return x[:, None], ((1 + a) * t / (1 + np.abs(t)))[:, None]


def create_model():
    return npagg.Model(
        npagg.Encoder(1, 1, D, [5], "tanh"),
        npagg.Prior.student(D),
        npagg.Decoder(1, 1, D, [5], "tanh"),
        npagg.Objective("elbo", samples=SAMPLES, normalise="points"),
        npagg.Vmp(max_iters=4),
    )


def draw_noise(step):
    return npagg.noise.normal(3, step, (TASKS, SAMPLES, D))


def print_loss(step, loss):
    """The mean over tasks, also as the sixteen digits of its bits."""
    mean = 0.0
    for one in loss:
        mean = mean + float(one)
    mean = mean / TASKS
    print(f"step {step:3d}  loss {mean:.6f}  {struct.pack('>d', mean).hex()}")


def main():
    model, (x, y) = create_model(), draw_tasks()
    params = model.init_params(seed=1)
    for step in range(1, STEPS + 1):
        loss, grad = model.step(params, x, y, N_CTX, draw_noise(step), OFFSETS)
        params -= RATE * grad
        if step == 1 or step % 10 == 0:
            print_loss(step, loss)


if __name__ == "__main__":
    main()
