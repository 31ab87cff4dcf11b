"""Finds and reads the text in images that it draws itself, and prints what it found as JSON."""

import json

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from rapidocr import RapidOCR

PAGES = [
    ["Interchangeable parts", "Order 20417: 3 x oak, 12.50 EUR", "mortise and tenon"],
    ["Total 1,284.00", "Thank you!"],
]


def drawn(lines, upside_down):
    image = Image.new("RGB", (420, 40 + 48 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        draw.text((24, 20 + 48 * row), line, fill="black", font=ImageFont.load_default(22))
    return np.asarray(image.rotate(180) if upside_down else image)


def main():
    read = RapidOCR()
    found = []
    for number, lines in enumerate(PAGES):
        result = read(drawn(lines, upside_down=number == 1))
        found.append({"texts": list(result.txts), "scores": [float(score) for score in result.scores],
                      "boxes": np.asarray(result.boxes, float).tolist()})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
