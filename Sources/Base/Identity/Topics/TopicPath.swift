public import Failures

/// The name of a topic, a service or one of its actions inside a network: `[network:]segment/segment/…`.
///
/// A path with `*`, `>` or `{name}` among its segments is a pattern: `*` and `{name}` stand for exactly one segment,
/// `>` in the last place for one or more. Patterns never reach into another network, and match paths only, not other
/// patterns.
public struct TopicPath: Hashable, Sendable {
    /// The longest text, in bytes.
    public static let byteLimit = 512
    /// The most segments.
    public static let segmentLimit = 32

    /// The network's name or text as it was written or given; empty when neither was.
    public let network: String
    /// The parts between the slashes, never empty.
    public let segments: [String]

    /// Parses a path; if it names no network, `network` is used.
    ///
    /// A leading slash and empty segments are left out.
    ///
    /// - Throws: ``TopicPathError`` with the reason.
    public init(_ text: String, network: String = "") throws(TopicPathError) {
        guard text.utf8.count <= Self.byteLimit else {
            throw .tooLong(limit: Self.byteLimit, found: text.utf8.count)
        }
        // Scalars, because a separator with a combining mark is another `Character`, but a separator in other
        // implementations.
        let parts = text.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .malformed(text, reason: "it has more than one colon") }
        guard parts.count < 2 || !parts[0].isEmpty else {
            throw .malformed(text, reason: "the network before the colon is missing")
        }
        let path = parts.last ?? Substring.UnicodeScalarView()
        try self.init(
            segments: path.split(separator: "/").map { String($0) },
            network: parts.count == 2 ? String(parts[0]) : network,
            of: text
        )
    }

    /// Whether a text has no separator and is not empty.
    private static func isSegment(_ text: String) -> Bool {
        !text.isEmpty && !text.unicodeScalars.contains { $0 == "/" || $0 == ":" }
    }

    private init(segments: [String], network: String, of text: String) throws(TopicPathError) {
        guard !segments.isEmpty else { throw .malformed(text, reason: "it has no segment") }
        guard segments.count <= Self.segmentLimit else {
            throw .malformed(text, reason: "it has more than \(Self.segmentLimit) segments")
        }
        for (place, segment) in segments.enumerated() {
            let isPlain = segment.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
            }
            guard isPlain else { throw .malformed(text, reason: "it has an invisible character") }
            guard segment != ">" || place == segments.count - 1 else {
                throw .malformed(text, reason: "\">\" may only be the last segment")
            }
            guard segment != "{}" else { throw .malformed(text, reason: "a parameter has no name") }
        }
        let names = segments.compactMap(Self.parameterName)
        guard Set(names).count == names.count else {
            throw .malformed(text, reason: "two parameters have the same name")
        }
        self.network = network
        self.segments = segments
    }

    /// The service's name: the first segment.
    public var servicePath: String { segments[0] }

    /// The whole path without its network, or an empty text when it is only a service's name.
    public var actionPath: String { segments.count > 1 ? path : "" }

    /// The path without its network.
    public var path: String { segments.joined(separator: "/") }

    /// Whether it stands for many paths.
    public var isPattern: Bool {
        segments.contains { $0 == "*" || $0 == ">" || Self.parameterName($0) != nil }
    }

    /// The path in no network.
    package var withoutNetwork: TopicPath { TopicPath(checked: segments, network: "") }

    /// The path with one more segment.
    public func child(_ segment: String) throws(TopicPathError) -> TopicPath {
        guard Self.isSegment(segment) else {
            throw .malformed(segment, reason: "a segment is not empty and has neither slash nor colon")
        }
        return try TopicPath(segments: segments + [segment], network: network, of: description + "/" + segment)
    }

    /// The path without its last segment; nil when it has one alone.
    public var parent: TopicPath? {
        guard segments.count > 1 else { return nil }
        return TopicPath(checked: Array(segments.dropLast()), network: network)
    }

    /// Whether the first segments of the path are those of `other`, in the same network.
    public func starts(with other: TopicPath) -> Bool {
        network == other.network && segments.starts(with: other.segments)
    }

    package init(checked segments: [String], network: String) {
        self.network = network
        self.segments = segments
    }

    private static func parameterName(_ segment: String) -> Substring? {
        segment.first == "{" && segment.last == "}" ? segment.dropFirst().dropLast() : nil
    }
}

// MARK: - Patterns

extension TopicPath {
    /// Whether this path or pattern stands for `path`.
    public func matches(_ path: TopicPath) -> Bool {
        network == path.network && !path.isPattern && Self.matches(segments, path.segments)
    }

    /// The parts of `path` that the parameters of this pattern stand for, by name; nil when it does not match.
    public func parameters(of path: TopicPath) -> [String: String]? {
        guard matches(path) else { return nil }
        var found: [String: String] = [:]
        for (own, other) in zip(segments, path.segments) {
            if let name = Self.parameterName(own) { found[String(name)] = other }
        }
        return found
    }

    /// The path in which the parameters of this pattern are replaced.
    ///
    /// - Throws: ``TopicPathError/missingParameter(_:)``, or when a value is not one segment.
    public func filled(with values: [String: String]) throws(TopicPathError) -> TopicPath {
        var filled: [String] = []
        for segment in segments {
            guard let name = Self.parameterName(segment) else {
                filled.append(segment)
                continue
            }
            guard let value = values[String(name)] else { throw .missingParameter(String(name)) }
            guard Self.isSegment(value) else {
                throw .malformed(value, reason: "the value of {\(name)} must be one segment")
            }
            filled.append(value)
        }
        return try TopicPath(segments: filled, network: network, of: description)
    }

    private static func matches(_ pattern: [String], _ path: [String]) -> Bool {
        for (place, segment) in pattern.enumerated() {
            guard place < path.count else { return false }
            if segment == ">" { return true }
            if segment == "*" || parameterName(segment) != nil { continue }
            guard segment == path[place] else { return false }
        }
        return pattern.count == path.count
    }
}

extension TopicPath: CustomStringConvertible {
    /// The text, with the network if there is one.
    public var description: String { network.isEmpty ? path : "\(network):\(path)" }
}

/// Why a text is no topic path.
public enum TopicPathError: Error, Hashable, Sendable {
    /// It is longer than any may be, in bytes.
    case tooLong(limit: Int, found: Int)
    /// It breaks a rule.
    case malformed(String, reason: String)
    /// No value was given for a parameter.
    case missingParameter(String)
}

extension TopicPathError: CodedError, CustomStringConvertible {
    /// The rule that the text breaks.
    public var description: String {
        switch self {
        case .tooLong(let limit, let found): "a topic has at most \(limit) bytes, this one has \(found)"
        case .malformed(let text, let reason): "\"\(text)\" is no topic: \(reason)"
        case .missingParameter(let name): "the parameter {\(name)} has no value"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-topic", .invalidPath, .usage) }
}
