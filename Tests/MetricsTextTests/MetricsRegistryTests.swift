internal import CoreMetrics
internal import MetricsText
internal import TestSupport
internal import Testing

@Suite("Metrics as text") struct MetricsRegistryTests {
    let registry = MetricsRegistry(explanations: ["a_total": "A \\ with\nlines."])

    @Test func `counters and gauges are lines, sorted by name and label`() {
        Counter(label: "a_total", dimensions: [("type", "put")], factory: registry).increment(by: 3)
        Counter(label: "a_total", dimensions: [("type", "get")], factory: registry).increment()
        let gauge = Meter(label: "Z", factory: registry)
        gauge.increment(by: 2.5)
        gauge.decrement()
        let expected = """
            # TYPE Z gauge
            Z 1.5
            # HELP a_total A \\\\ with\\nlines.
            # TYPE a_total counter
            a_total{type="get"} 1
            a_total{type="put"} 3

            """
        #expect(registry.text() == expected)
    }

    @Test func `histogram buckets are cumulative, and the last one holds all values`() {
        let recorder = Recorder(label: "size", aggregate: true, factory: registry)
        for size in [0, 1, 5, 1 << 30] { recorder.record(size) }
        let lines = registry.text().split(separator: "\n")
        #expect(lines.first == "# TYPE size histogram")
        #expect(lines.contains("size_bucket{le=\"1\"} 2"))
        #expect(lines.contains("size_bucket{le=\"4\"} 2"))
        #expect(lines.contains("size_bucket{le=\"16\"} 3"))
        #expect(lines.contains("size_bucket{le=\"16777216\"} 3"))
        #expect(lines.contains("size_bucket{le=\"+Inf\"} 4"))
        #expect(lines.suffix(2) == ["size_sum 1073741830", "size_count 4"])
    }

    @Test func `a timer counts in seconds`() {
        Timer(label: "t", factory: registry).recordNanoseconds(1_500_000_000)
        let text = registry.text()
        #expect(text.contains("t_sum 1.5\n") && text.contains("t_bucket{le=\"1\"} 0\n"))
        #expect(text.contains("t_bucket{le=\"2.5\"} 1\n"))
    }

    @Test func `instruments of one name and the same labels are one series`() {
        for labels in [[("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]] {
            Counter(label: "c", dimensions: labels, factory: registry).increment()
        }
        #expect(registry.text().hasSuffix("c{a=\"1\",b=\"2\"} 2\n"))
    }

    @Test func `names and label values are escaped`() {
        Counter(label: "1.a-ä", dimensions: [("x:y", "say \"\\\n\"")], factory: registry).increment()
        #expect(registry.text().hasSuffix("_1_a__{x_y=\"say \\\"\\\\\\n\\\"\"} 1\n"))
    }

    @Test func `a name belongs to one kind of instrument`() {
        Counter(label: "n", factory: registry).increment()
        Meter(label: "n", factory: registry).set(7)
        #expect(registry.text() == "# TYPE n counter\nn 1\n")
    }

    @Test func `a destroyed instrument is no longer written`() {
        let counter = Counter(label: "n", factory: registry)
        counter.increment()
        counter.destroy()
        #expect(registry.text().isEmpty)
    }

    @Test func `the number of series is bounded`() {
        for number in 0...MetricsRegistry.seriesLimit {
            Counter(label: "n", dimensions: [("i", "\(number)")], factory: registry).increment()
        }
        #expect(registry.text().split(separator: "\n").count == MetricsRegistry.seriesLimit + 1)
    }

    @Test func `no number crashes an instrument`() {
        var random = SplitMix64(seed: 1)
        let (gauge, recorder) = (
            Meter(label: "g", factory: registry), Recorder(label: "r", aggregate: true, factory: registry)
        )
        let floating = FloatingPointCounter(label: "f", factory: registry)
        for number in [.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -0.0, 1e-300] {
            gauge.set(number)
            recorder.record(number)
            floating.increment(by: number)
        }
        for _ in 0..<1000 {
            let number = Double(bitPattern: random.next())
            gauge.increment(by: number)
            recorder.record(number)
        }
        #expect(registry.text().contains("r_count"))
    }
}
