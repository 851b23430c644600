internal import CRunar
internal import RunarNode
internal import TestSupport
internal import Testing

/// The consistency of the headers, their implementation, and the bindings.
@Suite("runar.h") struct HeaderTests {
    private let header: String
    private let module: String

    init() throws {
        header = try ["runar", "runar_sealed", "runar_circle"]
            .map { try packageText(named: "Sources/Apps/CRunar/include/\($0).h") }
            .joined()
        module = try packageText(named: "Bindings/python/runar.py")
    }

    /// Returns the values of an enum of the header, by name without the prefix.
    private func values(of name: String, prefix: String) throws -> [String: Int32] {
        let body = try #require(
            header.split(separator: "enum \(name) {").dropFirst().first?.split(separator: "};").first
        )
        let entries = body.matches(of: /(\w+) = (\d+)/).map { match in
            (String(match.output.1.dropFirst(prefix.count)), Int32(match.output.2) ?? -1)
        }
        return Dictionary(entries, uniquingKeysWith: { first, _ in first })
    }

    /// The functions that the header declares.
    private var functions: Set<String> {
        let code = header.replacing(/\/\*[\s\S]*?\*\//, with: "")
        return Set(code.matches(of: /\b(runar_\w+)\(/).map { String($0.output.1) })
    }

    @Test func `its error codes are those of Swift`() throws {
        let swift = Dictionary(uniqueKeysWithValues: RunarErrorCode.all.map { ($0.name, $0.code.rawValue) })
        #expect(try values(of: "runar_error_code", prefix: "RUNAR_ERROR_") == swift)
        #expect(swift.count > 30)
    }

    @Test func `its log levels are those of Swift, one up`() throws {
        let levels = try values(of: "runar_log_level", prefix: "RUNAR_LOG_")
        for level in RunarLogLevel.allCases {
            #expect(levels["\(level)".uppercased()] == Int32(level.rawValue) + 1)
        }
        #expect(levels.count == RunarLogLevel.allCases.count + 1)
    }

    @Test func `its encodings keep their numbers, without the reserved 2`() throws {
        let encodings = try values(of: "runar_encoding", prefix: "RUNAR_ENCODING_")
        #expect(encodings == ["NONE": 0, "JSON": 1, "CBOR": 3, "BYTES": 4])
        #expect(module.contains("JSON, CBOR, BYTES = 1, 3, 4"))
    }

    @Test func `each of its functions is implemented, called by the C program and known to Python`() throws {
        let files = ["Calls", "Circle", "Lifecycle", "Networks", "Node", "Sealed", "Services"]
        let swift = try files.map { try packageText(named: "Sources/Apps/RunarC/Functions+\($0).swift") }.joined()
        let implemented = swift.matches(of: /@c @implementation\npublic func (runar_\w+)\(/).map { String($0.output.1) }
        #expect(Set(implemented) == functions && implemented.count == functions.count)
        #expect(functions.count > 59)
        let probe = try ["main", "calls", "sealed", "circle"]
            .map { try packageText(named: "Tests/Helpers/CProbe/\($0).c") }
            .joined()
        #expect(functions.filter { !probe.contains("\($0)(") } == [])
        let known = Set(module.matches(of: /"(runar_\w+)": \(/).map { String($0.output.1) })
        #expect(functions == known)
    }

    @Test func `the structs of Python have the sizes and fields of C`() throws {
        let python = try ChildProcess(script: "c_layouts.py", arguments: [])
        var layouts: [String: String] = [:]
        while let line = python.nextLine() {
            let words = line.split(separator: " ", maxSplits: 1)
            layouts[String(words[0])] = String(words[1])
        }
        let sizes = unsafe [
            "runar_error": MemoryLayout<runar_error>.size,
            "runar_data_result": MemoryLayout<runar_data_result>.size,
            "runar_event": MemoryLayout<runar_event>.size,
            "runar_circle_event": MemoryLayout<runar_circle_event>.size,
            "runar_request_info": MemoryLayout<runar_request_info>.size,
            "runar_node_config": MemoryLayout<runar_node_config>.stride,
            "runar_request_options": MemoryLayout<runar_request_options>.stride,
            "runar_seal_options": MemoryLayout<runar_seal_options>.stride,
        ]
        for (name, size) in sizes {
            let code = header.replacing(/\/\*[\s\S]*?\*\//, with: "")
            let body = try #require(code.split(separator: "typedef struct \(name) {").dropFirst().first)
            let fields = body.split(separator: "}")[0].matches(of: /(\w+);/).map { $0.output.1 }
            #expect(layouts[name] == "\(size) \(fields.joined(separator: " "))")
        }
    }
}
