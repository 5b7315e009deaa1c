from scumble._core.files import InputFile
from scumble._core.progress import progress_bar, show_progress


class Recorder:
    def __init__(self):
        self.events = []

    def start(self, title, total):
        self.events.append((title, total))
        return lambda steps: self.events.append(steps)

    def finish(self):
        self.events.append("end")


def test_work_is_announced_to_whoever_listens():
    recorder = Recorder()
    with show_progress(recorder), progress_bar("Counting", 3) as advance:
        advance(2)
        advance(1)
    assert recorder.events == [("Counting", 3), 2, 1, "end"]


def test_nobody_listens():
    with progress_bar("Counting", 3) as advance:
        advance(3)


def test_reading_a_file_announces_its_bytes(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"line\n" * 1000)
    recorder = Recorder()
    with show_progress(recorder):
        assert b"".join(InputFile(path).blocks(size=512)) == path.read_bytes()
    assert recorder.events[0] == ("Reading data.txt", 5000)
    assert sum(event for event in recorder.events if isinstance(event, int)) == 5000
    assert recorder.events[-1] == "end"
