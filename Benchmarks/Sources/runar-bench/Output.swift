internal import Foundation

/// One line of JSON per result, and the process's end.
enum Output {
    /// Prints the pairs as one JSON object.
    static func result(_ pairs: KeyValuePairs<String, any CustomStringConvertible>) {
        let fields = pairs.map { name, value in
            value is String ? "\"\(name)\":\"\(value)\"" : "\"\(name)\":\(value)"
        }
        FileHandle.standardOutput.write(Data("{\(fields.joined(separator: ","))}\n".utf8))
    }

    static func complain(_ text: String) {
        FileHandle.standardError.write(Data("runar-bench: \(text)\n".utf8))
    }

    /// Ends at once: servers have tasks that still run at the end of a measurement.
    static func exit(code: Int32) -> Never {
        Foundation.exit(code)
    }

    /// Blocks one thread of its own until the input of the process ends, then ends the process.
    static func endWithInput() {
        let thread = Thread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            exit(code: 0)
        }
        thread.start()
    }

    /// Waits for the end of the input without holding a thread of the executor.
    static func inputEnded() async {
        await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            let thread = Thread {
                while !FileHandle.standardInput.availableData.isEmpty {}
                ended.resume()
            }
            thread.start()
        }
    }

    /// The process's resident memory.
    static func residentKibibytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        guard let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw BenchError("no resident size in /proc/self/statm")
        }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
    var microseconds: Double { seconds * 1e6 }
}

extension [Duration] {
    /// The value below which `part` of all lie.
    func percentile(_ part: Double) -> Duration {
        let ordered = sorted()
        return ordered.isEmpty ? .zero : ordered[Int((part * Double(ordered.count - 1)).rounded())]
    }
}
