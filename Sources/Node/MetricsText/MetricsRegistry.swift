internal import Concurrency
package import CoreMetrics

/// Stores the measurements of instruments, and writes them in the text format of Prometheus, version 0.0.4.
///
/// Handlers of one name and the same labels are one series, however often they are requested. A name has one kind of
/// instrument, and the number of series is bounded by ``seriesLimit``: a handler beyond it measures, but is not written out.
package final class MetricsRegistry: MetricsFactory {
    /// More series than any collector wants from one process.
    package static let seriesLimit = 4096
    /// The content type of ``text()``.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The series of one name, and their kind.
    private struct Family: Sendable {
        let kind: Series.Kind
        var series: [SeriesLabels: Series] = [:]
    }

    private struct State: Sendable {
        var families: [String: Family] = [:]
        var seriesCount = 0
    }

    private let explanations: [String: String]
    private let state = Locked(State())

    /// Makes an empty registry with explanations of some names.
    package init(explanations: [String: String] = [:]) {
        self.explanations = explanations
    }

    /// Everything measured so far: names and labels in order, so that two texts can be compared.
    package func text() -> String {
        let families = state.withLock { $0.families }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
            if let explanation = explanations[name] { text += "# HELP \(name) \(Self.escapedHelp(explanation))\n" }
            text += "# TYPE \(name) \(family.kind.word)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(as: name, labels, to: &text)
            }
        }
        return text
    }

    private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Series.Kind) -> Series {
        let name = SeriesLabels.name(label, allowsColon: true)
        let labels = SeriesLabels(dimensions)
        return state.withLock { state in
            if let series = state.families[name]?.series[labels], series.kind == kind { return series }
            let series = Series(kind)
            let isFit = state.families[name].map { $0.kind == kind } ?? true
            guard isFit, state.seriesCount < Self.seriesLimit else { return series }
            state.families[name, default: Family(kind: kind)].series[labels] = series
            state.seriesCount += 1
            return series
        }
    }

    private func remove(_ handler: AnyObject) {
        guard let series = handler as? Series else { return }
        state.withLock { state in
            for (name, family) in state.families {
                for (labels, other) in family.series where other === series {
                    state.families[name]?.series[labels] = nil
                    state.seriesCount -= 1
                }
            }
        }
    }

    private static func escapedHelp(_ text: String) -> String {
        text.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }
}

// MARK: - Making and removing

extension MetricsRegistry {
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }

    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .histogram(.amounts) : .gauge)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram(.seconds))
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }

    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}
