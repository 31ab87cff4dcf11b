"""What HTML reports have in them."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from xml.etree import ElementTree

SPACE = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """Checks that tags are balanced, and collects texts, what the page would load and how its parts refer to others."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.loads, self.scripts, self.links, self.ids = [], [], [], 0, set(), set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "href" and value.startswith("#"):
                self.links.add(value[1:])
            elif name in ("src", "href"):
                self.loads.append(value)
            elif name == "id":
                assert value not in self.ids
                self.ids.add(value)
        self.scripts += tag == "script"
        if tag not in ("meta", "path", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_data(self, data):
        self.texts.append(data)


@dataclass
class Box:
    kind: str
    texts: list
    left: int
    top: int
    right: int
    bottom: int

    def has(self, x, y):
        return self.left < x < self.right and self.top < y < self.bottom


class Drawing:
    """The drawing of a graph in a page: its boxes, and its lines as lists of points."""

    def __init__(self, html):
        svg = ElementTree.fromstring(html[html.index("<svg"):html.index("</svg>") + 6])
        self.width, self.height = int(svg.get("width")), int(svg.get("height"))
        self.boxes = [self._box(group) for group in svg.iter(f"{SPACE}g")]
        self.lines = [self._points(path.get("d")) for path in svg.iter(f"{SPACE}path")]
        assert all(0 <= box.left and box.right <= self.width and 0 <= box.top and box.bottom <= self.height
                   for box in self.boxes)

    @staticmethod
    def _box(group):
        rect = group.find(f"{SPACE}rect")
        x, y, width, height = (int(rect.get(name)) for name in ("x", "y", "width", "height"))
        return Box(group.get("class"), [text.text for text in group.findall(f"{SPACE}text")], x, y, x + width, y + height)

    @staticmethod
    def _points(path):
        """Points that are close to each other along a path of straight and bent parts."""
        points, at = [], None
        for command, numbers in re.findall(r"([MVC])([^MVC]*)", path):
            values = [int(number) for number in re.findall(r"-?\d+", numbers)]
            if command == "M":
                at = tuple(values)
                continue
            corners = [at, *([(at[0], values[0])] if command == "V" else zip(values[::2], values[1::2]))]
            for step in range(21):
                t, weights = step / 20, [1, 1] if command == "V" else [1, 3, 3, 1]
                degree = len(corners) - 1
                factors = [w * (1 - t) ** (degree - k) * t**k for k, w in enumerate(weights)]
                points.append(tuple(sum(f * corner[axis] for f, corner in zip(factors, corners)) for axis in (0, 1)))
            at = corners[-1]
        return points

    def overlaps(self):
        return [(a, b) for i, a in enumerate(self.boxes) for b in self.boxes[:i]
                if a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom]

    def crossed_boxes(self):
        return [box for box in self.boxes for line in self.lines if any(box.has(*point) for point in line)]
