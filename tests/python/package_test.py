# SPDX-License-Identifier: Apache-2.0
"""The Python package, over the built program (LLMSCAPE_PROGRAM)."""

import inspect
import os
import pathlib
import tempfile
import unittest

import llmscape

SCENARIO = {
    "schema": "scenario/1",
    "model": "qwen2.5-1.5b",
    "hardware": {"devices": [{"preset": "l4", "count": 1}]},
    "workload": {
        "arrivals": {"kind": "poisson", "rate": "5 /s"},
        "requests": 40,
        "stream": {
            "kind": "lengths",
            "prompt": {"kind": "fixed", "value": 256},
            "output": {"kind": "fixed", "value": 32},
        },
    },
    "seed": 7,
}


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder.name)

    def test_a_mapping_and_a_file_give_the_same_result(self):
        result = llmscape.run(SCENARIO)
        self.assertEqual(result.requests.completed, 40)
        self.assertGreater(result.latency.ttft_s.p99, 0)
        self.assertEqual(result.to_dict()["schema"], "run/1")
        import json

        pathlib.Path("s.json").write_text(json.dumps(SCENARIO))
        self.assertEqual(llmscape.run("s.json"), result)
        self.assertEqual(llmscape.run(pathlib.Path("s.json"), seed=7), result)
        self.assertNotEqual(llmscape.run("s.json", seed=8), result)
        self.assertEqual(sorted(os.listdir(".")), ["s.json"])

    def test_overrides_are_laid_over_as_on_the_command_line(self):
        few = llmscape.run(SCENARIO, {"workload.requests": 10, "workload.arrivals.rate": "1 /s"})
        self.assertEqual(few.requests.completed, 10)
        self.assertEqual(few, llmscape.run(SCENARIO, ["workload.requests=10", "workload.arrivals.rate=1 /s"]))

    def test_every_mistake_is_raised_at_once_with_its_place(self):
        with self.assertRaises(llmscape.Refused) as raised:
            llmscape.run(SCENARIO, {"workload.requests": -1, "workload.nonsense": 1})
        self.assertEqual(len(raised.exception.mistakes), 2)
        self.assertIn("unknown key 'nonsense'", str(raised.exception))
        self.assertTrue(all(each.line == 1 for each in raised.exception.mistakes))
        with self.assertRaises(llmscape.Refused):
            llmscape.run("missing.yaml")

    def test_what_a_result_lacks_is_named(self):
        with self.assertRaisesRegex(AttributeError, "there is no 'nonsense' here; there are schema, "):
            llmscape.run(SCENARIO).nonsense

    def test_a_sweep_yields_each_point_once_and_goes_on_where_it_was(self):
        ended = []
        axes = {"workload.arrivals.rate": ["1 /s", "2 /s"], "hardware.devices[0].count": [1, 2]}
        points = list(llmscape.sweep(SCENARIO, axes=axes, output="out", progress=ended.append))
        self.assertEqual(ended, [1, 2, 3, 4])
        self.assertEqual(len({point.id for point in points}), 4)
        self.assertEqual(
            {(p.values["workload.arrivals.rate"], p.values["hardware.devices[0].count"]) for p in points},
            {("1 /s", "1"), ("1 /s", "2"), ("2 /s", "1"), ("2 /s", "2")},
        )
        again = {point.id: point.result for point in llmscape.sweep(SCENARIO, axes=axes, output="out")}
        self.assertEqual(again, {point.id: point.result for point in points})

    def test_a_text_of_an_axis_is_one_value_whatever_signs_it_holds(self):
        trace = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00,10,1\n2023-11-16 18:00:01,20,2\n"
        names = ["plain.csv", "a, b.csv", "c #d.csv", "e: [f] 'g' \"h\".csv"]
        for name in names:
            pathlib.Path(name).write_text(trace)
        replayed = {**SCENARIO, "workload": {"replay": {"trace": "plain.csv"}}}
        points = list(llmscape.sweep(replayed, axes={"workload.replay.trace": names}))
        self.assertEqual(len(points), 4)
        self.assertEqual([point.result.requests.completed for point in points], [2] * 4)
        self.assertEqual(llmscape.run(replayed, {"workload.replay.trace": "c #d.csv"}).requests.completed, 2)
        mappings = [{"policy": "vllm_v1"}, {"policy": "sglang"}]  # these stay what they are
        self.assertEqual(len(list(llmscape.sweep(SCENARIO, axes={"serving.batcher": mappings}))), 2)

    def test_why_points_failed_is_told_when_their_folder_is_gone(self):
        pathlib.Path("good.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00,10,1\n")
        replayed = {**SCENARIO, "workload": {"replay": {"trace": "good.csv"}}}
        axes = {"workload.replay.trace": ["good.csv", "gone.csv", "lost.csv"]}
        for output in (None, "out"):
            with self.assertRaises(llmscape.Error) as raised:
                list(llmscape.sweep(replayed, axes=axes, output=output))
            self.assertEqual(raised.exception.code, 3)
            self.assertIn("2 points failed", str(raised.exception))
            for name in ("gone.csv", "lost.csv"):
                self.assertRegex(str(raised.exception), f"{name}': cannot open")

    def test_who_stops_iterating_stops_the_sweep(self):
        points = llmscape.sweep(SCENARIO, axes={"workload.requests": [*range(1, 200)]}, jobs=1, output="out")
        next(points)
        points.close()
        self.assertLess(len(os.listdir("out/points")), 199)

    def test_a_sweep_that_is_refused_runs_nothing(self):
        with self.assertRaises(llmscape.Refused):
            list(llmscape.sweep(SCENARIO, axes={"workload.nonsense": [1]}, output="out"))
        self.assertFalse(os.path.exists("out"))

    def test_traces_are_read_in_any_format(self):
        pathlib.Path("t.csv").write_text(
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,10,1\n2023-11-16 18:00:01.5,20,2\n"
        )
        self.assertEqual(
            list(llmscape.trace.read("t.csv")),
            [
                {"arrival_s": 0, "prompt_tokens": 10, "output_tokens": 1},
                {"arrival_s": 1.5, "prompt_tokens": 20, "output_tokens": 2},
            ],
        )
        pathlib.Path("u.jsonl").write_text(
            '{"schema": "trace/1"}\n{"arrival_s": 0, "session": "a\u2028b\u0085c", "prompt_tokens": 7, "output_tokens": 1}\n',
            encoding="utf-8",
        )
        (record,) = llmscape.trace.read("u.jsonl")
        self.assertEqual((record["session"], record["prompt_tokens"]), ("a\u2028b\u0085c", 7))
        pathlib.Path("broken.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,10,1\n")
        with self.assertRaises(llmscape.Refused) as raised:
            list(llmscape.trace.read("broken.csv"))
        self.assertEqual(raised.exception.mistakes[0].line, 2)

    def test_the_catalogue_is_listed_and_shown(self):
        self.assertIn("h100-sxm", [row["device"] for row in llmscape.catalog.list("devices")])
        self.assertIn("parameters", llmscape.catalog.list("models")[0])
        self.assertIn("bandwidth", llmscape.catalog.show("hardware/h100-sxm"))
        with self.assertRaises(llmscape.Refused):
            llmscape.catalog.show("hardware/h100-sxn")
        with self.assertRaises(llmscape.Refused) as raised:
            llmscape.catalog.list("foo")
        self.assertEqual(len(raised.exception.mistakes), 1)

    def test_everything_public_says_what_it_is(self):
        for name in llmscape.__all__:
            self.assertTrue(inspect.getdoc(getattr(llmscape, name)), name)


if __name__ == "__main__":
    unittest.main()
