internal import Bytes

/// Finds the route of a path.
struct RouteTable: Sendable {
    /// What a path leads to.
    enum Match: Sendable {
        case route(ConsoleRoute, parameters: [String: String])
        /// It is there, but not for this method; these are.
        case otherMethods([ConsoleRoute.Method])
        case nothing
    }

    private struct Entry: Sendable {
        let route: ConsoleRoute
        let segments: [Substring]
        let literalCount: Int
    }

    private static let prefix = "/api/"

    private let entries: [Entry]

    init(_ routes: [ConsoleRoute]) {
        let names = routes.map { "\($0.method.rawValue) \($0.template)" }
        precondition(Set(names).count == names.count, "a route is there twice: \(names.sorted())")
        entries = routes.map { route in
            let segments = route.template.split(separator: "/", omittingEmptySubsequences: false)
            return Entry(route: route, segments: segments, literalCount: segments.count { Self.name(of: $0) == nil })
        }
    }

    /// Whether a path belongs to programs, and not to pages.
    func covers(_ path: String) -> Bool {
        path.hasPrefix(Self.prefix) || entries.contains { $0.route.template == path }
    }

    /// The route of a path; of several that fit, the one that names most of it.
    func match(_ method: String, _ path: String) -> Match {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = entries.compactMap { entry in
            Self.parameters(of: segments, in: entry.segments).map { (entry, $0) }
        }
        guard let most = fitting.map(\.0.literalCount).max() else { return .nothing }
        let nearest = fitting.filter { $0.0.literalCount == most }
        guard let found = nearest.first(where: { $0.0.route.method.rawValue == method }) else {
            return .otherMethods(nearest.map(\.0.route.method))
        }
        return .route(found.0.route, parameters: found.1)
    }

    private static func parameters(of segments: [Substring], in template: [Substring]) -> [String: String]? {
        guard segments.count == template.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, pattern) in zip(segments, template) {
            if let name = name(of: pattern) {
                guard let value = PercentText.decode(segment), !value.isEmpty else { return nil }
                parameters[name] = value
            } else if segment != pattern {
                return nil
            }
        }
        return parameters
    }

    private static func name(of segment: Substring) -> String? {
        guard segment.first == "{", segment.last == "}" else { return nil }
        return String(segment.dropFirst().dropLast())
    }
}

/// Text in addresses, where `%` and two digits stand for a byte (RFC 3986).
package enum PercentText {
    /// The text that is meant; nil if it is broken or no UTF-8.
    static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else if byte == UInt8(ascii: "+"), plusIsSpace {
                bytes.append(UInt8(ascii: " "))
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The text with everything escaped but letters, digits and `-._~`.
    package static func encode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return result
    }

    /// The names and values of a query; nil if one of them is broken.
    static func query(_ text: Substring) -> [String: String]? {
        var values: [String: String] = [:]
        for part in text.split(separator: "&") {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(words[0], plusIsSpace: true),
                let value = decode(words.count == 2 ? words[1] : "", plusIsSpace: true)
            else { return nil }
            values[name] = value
        }
        return values
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
