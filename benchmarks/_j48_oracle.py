"""Run WEKA's J48 on jobs read from a file: the oracle of tests and benchmarks.

A program of its own, so that no JVM lives in the caller's process:
``python _j48_oracle.py jobs.json answers.json``. A job holds ``train`` and ``test`` (ARFF texts or
paths, class last) and ``options``; with ``repeat`` the CPU seconds of the fastest of so many
builds are measured instead; with ``labels``, names of attributes, a tree is built for each of them
without the other labels, and its predictions are returned. ``process_cpu_s`` is the CPU time of the
Java machine so far, its start included. Needs Java and python-weka-wrapper3 (extra ``oracle``).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def oracle_python() -> str | None:
    """Return the Python that can run this program, or None."""
    python = os.environ.get("SCUMBLE_ORACLE_PYTHON", sys.executable)
    if shutil.which("java") is None:
        return None
    probe = [python, "-c", "import weka.core.jvm"]
    return python if subprocess.run(probe, capture_output=True).returncode == 0 else None


def ask_j48(jobs: list[dict], python: str) -> list[dict]:
    """Run this program on jobs and return its answers."""
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "jobs.json"), Path(folder, "answers.json")
        question.write_text(json.dumps(jobs))
        subprocess.run(
            [python, __file__, str(question), str(answer)], check=True, capture_output=True
        )
        return json.loads(answer.read_text())


def main() -> None:
    """Answer the jobs of a file."""
    import jpype
    from weka.core import jvm

    began = time.process_time()
    jvm.start(max_heap_size="4g", logging_level=40)
    reader = jpype.JClass("java.io.StringReader")
    file_reader = jpype.JClass("java.io.FileReader")
    instances = jpype.JClass("weka.core.Instances")
    j48 = jpype.JClass("weka.classifiers.trees.J48")
    clock = jpype.JClass("java.lang.management.ManagementFactory").getThreadMXBean()

    def load(text: str):
        source = reader(text) if "@data" in text else file_reader(text)
        data = instances(source)
        data.setClassIndex(data.numAttributes() - 1)
        return data

    def for_label(data, target_label: str, labels: list[str]):
        other_indices = [data.attribute(name).index() for name in labels if name != target_label]
        remove = jpype.JClass("weka.filters.unsupervised.attribute.Remove")()
        remove.setAttributeIndicesArray(jpype.JArray(jpype.JInt)(other_indices))
        remove.setInputFormat(data)
        alone = jpype.JClass("weka.filters.Filter").useFilter(data, remove)
        alone.setClassIndex(alone.attribute(target_label).index())
        return alone

    def classes(job, train, test):
        for label in job["labels"]:
            data = for_label(train, label, job["labels"])
            tree, _ = build(job, data)
            evaluation = jpype.JClass("weka.classifiers.Evaluation")(data)
            predictions = evaluation.evaluateModel(tree, for_label(test, label, job["labels"]))
            yield [int(value) for value in predictions]

    def build(job, data):
        tree = j48()
        tree.setOptions(jpype.JArray(jpype.JString)(job.get("options", [])))
        start = clock.getCurrentThreadCpuTime()
        tree.buildClassifier(data)
        return tree, (clock.getCurrentThreadCpuTime() - start) / 1e9

    answers = []
    for job in json.loads(Path(sys.argv[1]).read_text()):
        train = load(job["train"])
        if "repeat" in job:
            seconds = [build(job, train)[1] for _ in range(job["repeat"])]
            answers.append({"cpu_s": min(seconds)})
            continue
        if "labels" in job:
            result = list(classes(job, train, load(job["test"])))
            answers.append({"classes": result, "process_cpu_s": time.process_time() - began})
            continue
        tree, _ = build(job, train)
        test = load(job["test"])
        answers.append(
            {
                "text": str(tree.toString()),
                "leaves": int(tree.measureNumLeaves()),
                "size": int(tree.measureTreeSize()),
                "p": [
                    [float(p) for p in tree.distributionForInstance(test.instance(i))]
                    for i in range(test.numInstances())
                ],
            }
        )
    Path(sys.argv[2]).write_text(json.dumps(answers))
    jvm.stop()


if __name__ == "__main__":
    main()
