#!/usr/bin/env python3
"""Tests the GPU that scripts/gpu-id names, and the name that scripts/gpu-slug makes of it. It has a stand-in of nvidia-smi.

usage: gpu_id.py ROOT
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import unittest

import shared

GPUS = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaaaaaa-0000-1111-2222-333333333333)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbbbbbb-0000-1111-2222-333333333333)
  MIG 1g.10gb     Device  0: (UUID: MIG-cccccccc-0000-1111-2222-333333333333)
  MIG 1g.10gb     Device  1: (UUID: MIG-dddddddd-0000-1111-2222-333333333333)
GPU 10: NVIDIA H200 (UUID: GPU-eeeeeeee-0000-1111-2222-333333333333)
"""
STAND_IN = """\
#!/bin/sh
case "$*" in
    --list-gpus) cat "$0.gpus" ;;
    "--query-gpu=name --format=csv,noheader --id="*)
        sed -n "s/^GPU ${3#--id=}: \\(.*\\) (UUID.*/\\1/p" "$0.gpus" ;;
    *) exit 1 ;;
esac
"""


class GpuId(unittest.TestCase):
    def run_script(self, name: str, visible: str | None, gpus: str = GPUS) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "nvidia-smi"
            program.write_text(STAND_IN)
            program.chmod(0o755)
            if gpus:  # otherwise the stand-in fails, as nvidia-smi does without a driver
                pathlib.Path(f"{program}.gpus").write_text(gpus)
            environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
            environment.pop("CUDA_VISIBLE_DEVICES", None)
            if visible is not None:
                environment["CUDA_VISIBLE_DEVICES"] = visible
            return subprocess.run([root / "scripts" / name], env=environment, capture_output=True, text=True)

    def test_names_the_first_visible_gpu(self) -> None:
        for visible, index in [
            (None, "0"), ("0", "0"), ("1", "1"), ("10", "10"), ("10,0", "10"), ("1,-1", "1"),
            ("GPU-bbbbbbbb-0000-1111-2222-333333333333", "1"), ("GPU-ee", "10"), ("GPU-eeeeeeee,0", "10"),
            ("MIG-dddddddd-0000-1111-2222-333333333333", "1"),
            ("MIG-GPU-bbbbbbbb-0000-1111-2222-333333333333/7/0,0", "1"),
        ]:
            with self.subTest(visible=visible):
                done = self.run_script("gpu-id", visible)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{index}\n", ""))

    def test_says_where_none_is_visible(self) -> None:
        for visible in ["", "-1", "-1,0", "2", "none", "GPU-", "MIG-", "GPU-ffffffff", "MIG-eeeeeeee", "MIG-GPU-ff/7/0", ",0"]:
            for script in ["gpu-id", "gpu-slug"]:
                with self.subTest(visible=visible, script=script):
                    done = self.run_script(script, visible)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"CUDA_VISIBLE_DEVICES is '{visible}'", done.stderr)

    def test_says_where_there_is_none(self) -> None:
        for gpus in ["", "No devices found.\n"]:
            for visible in [None, "0"]:
                with self.subTest(gpus=gpus, visible=visible):
                    done = self.run_script("gpu-id", visible, gpus)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn("nvidia-smi lists none", done.stderr)

    def test_slug_is_of_that_gpu(self) -> None:
        for visible, slug in [(None, "a100-sxm4-40gb"), ("1", "h100-80gb-hbm3"), ("GPU-ee", "h200")]:
            with self.subTest(visible=visible):
                done = self.run_script("gpu-slug", visible)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{slug}\n", ""))


if __name__ == "__main__":
    root = shared.argument(__doc__)
    unittest.main()
