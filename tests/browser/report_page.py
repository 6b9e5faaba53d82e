# SPDX-License-Identifier: GPL-2.0
"""A report's page (analyze/cli/page.html) in headless Chromium, and what all such pages must do. The browser is talked to
by its debugging pipe, with nothing but Python's own library. Each test is a line "ok NAME" or "not ok NAME: why"."""
import base64, json, os, shutil, subprocess, sys, tempfile, unicodedata


class Browser:
    def __init__(self, program, home):
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()

        def wire():  # the browser reads from 3 and writes to 4
            ends = os.dup(there_in), os.dup(there_out)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir=" + home],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self.input, self.output = os.fdopen(here_in, "rb"), os.fdopen(here_out, "wb")
        self.count, self.session, self.events = 0, None, []

    def read(self):
        message = bytearray()
        while (byte := self.input.read(1)) != b"\0":
            if not byte:
                raise SystemExit("not ok browser: it has ended")
            message += byte
        return json.loads(message)

    def ask(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.output.write(json.dumps(message).encode() + b"\0")
        self.output.flush()
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise SystemExit(f"not ok browser: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def run(self, script):
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


ROWS = """(() => [...document.querySelectorAll("#%s .row")].map((row) => {
    const lane = (row.querySelector(".lane") || row).getBoundingClientRect(), takes = row.querySelector(".takes");
    return { name: row.querySelector(".name").textContent, takes: takes && takes.textContent,
             shown: row.offsetParent !== null, lane: lane.width, bars: [...row.querySelectorAll(".lane i")].map((bar) => {
                 const box = bar.getBoundingClientRect();
                 return [box.left - lane.left, box.width]; }) };
}))()"""


def visible(text, lines=False):
    """As the page shows a text of the recording: what would end a line, or turn others round, is a number."""
    hidden = lambda one: unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") and not (lines and one in "\n\t")
    return "".join(f"\\u{ord(one):04x}" if hidden(one) else one for one in text)


def all_visible(value, key=""):
    if isinstance(value, str):
        return visible(value, key == "output")
    if isinstance(value, list):
        return [all_visible(one) for one in value]
    return {name: all_visible(one, name) for name, one in value.items()} if isinstance(value, dict) else value


class Page:
    """`wanted`: of each section its rows in their order, as (name, bars), a bar being (from, to)."""

    def __init__(self, browser, report, wanted, first):
        self.browser, self.report, self.wanted, self.first = browser, report, wanted, first

    def rows(self, section):
        return self.browser.run(ROWS % section)

    def shown(self):
        return sum(row["shown"] for section in self.wanted for row in self.rows(section))

    def facts(self):
        return self.browser.run("document.getElementById('facts').textContent")

    def all_facts(self, section):
        return self.browser.run(f"""[...document.querySelectorAll("#{section} .row")].map((row) => {{
            row.click(); return document.getElementById("facts").textContent; }})""")

    def click_row(self, section, place):
        box = self.browser.run(f"""(() => {{ const row = document.querySelectorAll("#{section} .row")[{place}];
            row.scrollIntoView({{ block: "center" }}); const box = row.getBoundingClientRect();
            return [box.left + 20, box.top + box.height / 2]; }})()""")
        self.browser.click(*box)

    def search(self, word):
        """Types it, and gives what the page says of it."""
        self.browser.key("/")
        self.browser.ask("Input.insertText", text=word)
        return self.browser.run("document.getElementById('found').textContent")

    def bars(self, start, end):
        """Each visible bar lies where the view from `start` to `end` puts it."""
        for section, wanted in self.wanted.items():
            for row, (name, bars) in zip(self.rows(section), wanted):
                if not row["shown"]:
                    continue
                place = lambda time: min(max((time - start) / (end - start), -1), 2) * row["lane"]  # what is far off lies outside
                assert len(row["bars"]) == len(bars), f"{section}: {name} has {len(row['bars'])} bars, not {len(bars)}"
                for (left, width), (begin, to) in zip(row["bars"], bars):
                    assert abs(left - place(begin)) < 1, f"{section}: {name} begins elsewhere: {left}"
                    assert abs(width - max(place(to) - place(begin), 2)) < 1, f"{section}: {name} has another length: {width}"

    def test_bars(self):
        self.bars(*self.first)

    def test_counts(self):
        """Beside a section's name: how many rows it shows, and of how many."""
        for section, wanted in self.wanted.items():
            shown = sum(row["shown"] for row in self.rows(section))
            said = self.browser.run(f"document.querySelector('#{section} summary span').textContent")
            count = "" if not wanted else str(shown) if shown == len(wanted) else f"{shown} of {len(wanted)}"
            assert said == count, f"{section}: {said!r}, not {count!r}"

    def test_facts_in_sight(self):
        """Wherever the page is scrolled to, what is known of a row is seen when it is chosen."""
        section = next(section for section, wanted in self.wanted.items() if wanted)
        self.click_row(section, 0)
        box = self.browser.run("""(() => { const box = document.getElementById("facts").getBoundingClientRect();
            return [box.top, box.bottom, innerHeight]; })()""")
        assert 0 < box[0] < box[1] <= box[2], box

    def test_nothing_made_of_names(self):
        made = self.browser.run("[...document.querySelectorAll('img, b, svg, iframe, a, object, link')].length")
        scripts = self.browser.run("document.scripts.length")
        assert (made, scripts) == (0, 2), f"{made} elements, {scripts} scripts"
        texts = self.browser.run("""[...document.querySelectorAll("h1, h2, p, .name, .takes, pre, #facts")].map((one) => one.textContent)""")
        for text in texts:
            assert text == visible(text, True), f"{text!r} has what nobody sees"

    def test_tab(self):
        """Before a row was chosen, Tab goes from a list's head to its first row."""
        section = next(section for section, wanted in self.wanted.items() if wanted)
        self.browser.run(f"document.querySelector('#{section} summary').focus()")
        for kind in ("rawKeyDown", "keyUp"):
            self.browser.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        assert self.browser.run(f"document.querySelector('#{section} .row').getAttribute('aria-selected')") == "true"
        assert self.facts() != "Choose a row for what is known of it."

    def test_colours(self):
        backs = []
        for scheme in ("light", "dark"):
            self.browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            colours = self.browser.run("""["color", "backgroundColor"].map((name) =>
                getComputedStyle(document.body)[name].match(/[0-9]+/g).slice(0, 3).map(Number))""")
            light = []
            for colour in colours:  # relative luminance, WCAG 2.1
                parts = [c / 255 / 12.92 if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
                light.append(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2])
            assert (max(light) + 0.05) / (min(light) + 0.05) >= 7, f"{scheme}: {colours}"
            backs.append(light[1])
        assert backs[0] > 0.5 > backs[1], backs


REPORT = '<script type="application/json" id="report">'


def with_report(page, report):
    """The page with another report in it."""
    before, rest = page.split(REPORT)
    return before + REPORT + json.dumps(report).replace("<", "\\u003c") + rest[rest.index("</script>"):]


def run(make, browser, report, path, prefix):
    browser.events = [event for event in browser.events if event.get("method") != "Page.loadEventFired"]
    browser.ask("Page.navigate", url="file://" + os.path.abspath(path))
    browser.wait("Page.loadEventFired")
    shown, failed = make(browser, all_visible(report)), False
    for name in shown.tests:
        try:
            getattr(shown, "test_" + name.replace("-", "_"))()
            print("ok", prefix + name)
        except AssertionError as error:
            failed = True
            print(f"not ok {prefix}{name}: {error}")
    return failed


def main(make, made_up=None):
    """`make` gives the Page of a browser and a report; its tests are the names in its `tests`. `made_up` makes of a
    report one that is shown in the same page, and tested likewise."""
    page, data = sys.argv[1:3]
    program = shutil.which("chromium-headless-shell")
    if not program:
        raise SystemExit("not ok browser: there is no chromium-headless-shell: packaging/dependencies full")
    with open(data, encoding="utf-8") as file:
        report = json.load(file)
    home = tempfile.mkdtemp()
    browser = Browser(program, home)
    try:
        target = browser.ask("Target.createTarget", url="about:blank", width=1200, height=900)
        browser.session = browser.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.ask(domain + ".enable")
        failed = run(make, browser, report, page, "")
        if "--picture" in sys.argv:
            with open(sys.argv[sys.argv.index("--picture") + 1], "wb") as file:
                file.write(base64.b64decode(browser.ask("Page.captureScreenshot")["data"]))
        if made_up:
            other, report = os.path.join(home, "made-up.html"), made_up(report)
            with open(page, encoding="utf-8") as file:
                text = with_report(file.read(), report)
            with open(other, "w", encoding="utf-8") as file:
                file.write(text)
            failed |= run(make, browser, report, other, "made-up.")
        loaded = [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
        said = [event for event in browser.events if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        quiet = len(loaded) == (2 if made_up else 1) and not said
        print("ok quiet" if quiet else f"not ok quiet: it loaded {loaded}, and said {said}")
        failed = failed or not quiet
    finally:
        browser.process.kill()
        browser.process.wait()
        shutil.rmtree(home, ignore_errors=True)
    return failed
