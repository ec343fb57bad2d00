import Foundation

/// The position of a benchmark in a plot: a line with this name, at this place.
struct PlotPoint: Sendable {
    let plot: String
    let series: String
    let x: Int
}

/// Draws lines as SVG: the speed in percent of the reference's, by a size that doubles from point to point. Rows per second would show the
/// changes of the processor's clock between the points; the ratio does not, because subject and reference alternate.
///
/// Text and axes have a grey that is legible on white and on black. The lines have three colours that colour-blind readers can distinguish,
/// and different marks.
struct Plot {
    struct Line {
        let name: String
        var points: [(x: Int, y: Double)]
    }

    let title: String
    private(set) var lines: [Line] = []

    private static let width = 720.0, height = 400.0, left = 80.0, right = 150.0, top = 50.0, bottom = 60.0
    private static let colours = ["#2f81c7", "#d9822b", "#4f9d54", "#a25fb5"]
    private static let ink = "#7d8590"

    /// Makes all plots of the measurements, by file name.
    static func all(of measurements: [Measurement]) -> [(name: String, svg: String)] {
        var plots: [(name: String, plot: Plot)] = []
        for measurement in measurements {
            guard let point = measurement.benchmark.point else { continue }
            let index = plots.firstIndex { $0.name == point.plot } ?? plots.count
            if index == plots.count { plots.append((point.plot, Plot(title: titles[point.plot] ?? point.plot))) }
            plots[index].plot.add(x: point.x, y: 100 / measurement.ratio, to: point.series)
        }
        return plots.map { ("page-cache-\($0.name).svg", $0.plot.svg) }
    }

    private static let titles = [
        "import": "Import of 30,000 rows of JSON: speed, 100 = pages of 4096 bytes, cache 10 MB",
        "paging": "Paging through 30,000 rows: speed, 100 = pages of 4096 bytes, cache 10 MB",
    ]

    private mutating func add(x: Int, y: Double, to series: String) {
        let index = lines.firstIndex { $0.name == series } ?? lines.count
        if index == lines.count { lines.append(Line(name: series, points: [])) }
        lines[index].points.append((x, y))
    }

    var svg: String {
        let xs = Set(lines.flatMap { $0.points.map(\.x) }).sorted()
        let highest = lines.flatMap { $0.points.map(\.y) }.max() ?? 1
        let step = Self.step(for: highest)
        let ceiling = (highest / step).rounded(.up) * step
        func x(_ value: Int) -> Double {
            let place = Double(xs.firstIndex(of: value) ?? 0) / Double(max(1, xs.count - 1))
            return Self.left + place * (Self.width - Self.left - Self.right)
        }
        func y(_ value: Double) -> Double { Self.height - Self.bottom - value / ceiling * (Self.height - Self.top - Self.bottom) }

        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" font-family="Helvetica, Arial, sans-serif" \
            font-size="13" fill="\(Self.ink)">
            """,
            #"<text x="\#(Self.left)" y="24" font-size="15">\#(title)</text>"#,
        ]
        for tick in stride(from: 0, through: ceiling, by: step) {
            parts.append(
                #"<line x1="\#(Self.left)" x2="\#(Self.width - Self.right)" y1="\#(text(y(tick)))" y2="\#(text(y(tick)))" stroke="\#(Self.ink)" stroke-opacity="0.35"/>"#
            )
            parts.append(#"<text x="\#(Self.left - 10)" y="\#(text(y(tick) + 4))" text-anchor="end">\#(Int(tick))</text>"#)
        }
        for value in xs {
            parts.append(#"<text x="\#(text(x(value)))" y="\#(Self.height - Self.bottom + 22)" text-anchor="middle">\#(value)</text>"#)
        }
        parts.append(
            #"<text x="\#((Self.left + Self.width - Self.right) / 2)" y="\#(Self.height - 14)" text-anchor="middle">page size in bytes</text>"#)
        for (number, line) in lines.enumerated() {
            let colour = Self.colours[number % Self.colours.count]
            let places = line.points.sorted { $0.x < $1.x }.map { (x($0.x), y($0.y)) }
            let path = places.map { "\(text($0.0)),\(text($0.1))" }.joined(separator: " ")
            parts.append(#"<polyline points="\#(path)" fill="none" stroke="\#(colour)" stroke-width="2"/>"#)
            for place in places { parts.append(mark(number, place.0, place.1, colour)) }
            // A legend, because lines that end close together leave no room for names at their ends.
            let row = Self.top + 10 + Double(number) * 24, column = Self.width - Self.right + 26
            parts.append(mark(number, column, row, colour))
            parts.append(#"<text x="\#(column + 14)" y="\#(row + 4)">\#(line.name)</text>"#)
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private func mark(_ number: Int, _ x: Double, _ y: Double, _ colour: String) -> String {
        switch number % 3 {
        case 0: #"<circle cx="\#(text(x))" cy="\#(text(y))" r="4.5" fill="\#(colour)"/>"#
        case 1: #"<rect x="\#(text(x - 4))" y="\#(text(y - 4))" width="8" height="8" fill="\#(colour)"/>"#
        default: #"<path d="M\#(text(x)) \#(text(y - 5.5))l5 9h-10z" fill="\#(colour)"/>"#
        }
    }

    private func text(_ value: Double) -> String { String(format: "%.1f", value) }

    /// Returns a round number that divides the height into four to eight parts.
    private static func step(for highest: Double) -> Double {
        let magnitude = pow(10, (log10(max(highest, 1)) - 0.3).rounded(.down))
        return [0.2, 0.5, 1, 2].map { $0 * magnitude }.first { highest / $0 <= 8 } ?? 5 * magnitude
    }
}
