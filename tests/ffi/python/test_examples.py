"""The programs of bindings/python/examples do what they say."""

import os
import subprocess
import sys
import unittest

import numpy as np

import npagg

import support

EXAMPLES = os.path.join(support.SOURCE_ROOT, "bindings", "python", "examples")
sys.path.insert(0, EXAMPLES)


def run_example(name, *arguments):
    return subprocess.run(
        [sys.executable, os.path.join(EXAMPLES, name), *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class ExampleTest(support.TestCase):
    @unittest.skipUnless(os.environ.get("NPAGG_TINY"), "built without the C example tiny")
    def test_tiny_prints_the_bytes_of_the_c_program(self):
        c = subprocess.run([os.environ["NPAGG_TINY"]], check=True, capture_output=True, text=True)
        self.assertEqual(c.stdout, run_example("tiny.py"))
        self.assertEqual(11, len(c.stdout.splitlines()))

    def test_tiny_learns(self):
        losses = [float(line.split()[3]) for line in run_example("tiny.py").splitlines()]
        self.assertEqual(sorted(losses, reverse=True), losses)
        self.assertLess(losses[-1], 0.5 * losses[0])

    def test_tiny_in_torch_has_the_first_loss_and_gradient_of_the_library(self):
        import tiny
        import tiny_torch

        model, (x, y) = tiny.create_model(), tiny.draw_tasks()
        params = model.init_params(seed=1)
        want = model.step(params, x, y, tiny.N_CTX, tiny.draw_noise(1), tiny.OFFSETS)
        loss, grad = tiny_torch.first_step()
        self.assert_close(want[0], loss, 1e-12, "loss")
        self.assert_close(want[1], grad, 1e-12, "gradient")
        prior = slice(model.param_offset("prior"), model.param_offset("decoder"))
        self.assert_close(want[1][prior], grad[prior], 1e-12, "gradient of the prior")
        self.assertTrue(np.all(want[1][prior] != 0))

    def test_mean_pooling_runs_both_ways(self):
        lines = run_example("mean_pooling.py", "8").splitlines()
        self.assertEqual(["MeanPooling", "Inference"], [one for one in lines if "step" not in one])
        self.assertEqual(10, len(lines))

    def test_cost_of_a_call_is_measured(self):
        program = os.path.join(support.SOURCE_ROOT, "bench", "ffi", "call_cost.py")
        run = subprocess.run(
            [sys.executable, program, "2", "2"], check=True, capture_output=True, text=True
        )
        self.assertEqual(6, len([line for line in run.stdout.splitlines() if "ratio" in line]))


class ReadmeTest(support.TestCase):
    def test_program_of_the_readme_prints_what_it_says(self):
        with open(os.path.join(EXAMPLES, "..", "README.md")) as readme:
            blocks = readme.read().split("```")[1::2]
        program = next(b for b in blocks if b.startswith("python\nimport numpy"))
        wanted = next(b for b in blocks if b.startswith("text\n"))
        run = subprocess.run(
            [sys.executable, "-c", program.partition("\n")[2]],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertEqual(wanted.partition("\n")[2], run.stdout)
        self.assertTrue(npagg.__doc__)


if __name__ == "__main__":
    support.main()
