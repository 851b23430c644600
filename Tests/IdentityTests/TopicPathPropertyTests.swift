internal import TestSupport
internal import Testing

@testable internal import Identity

/// Patterns and their meaning: the set of paths that results from writing out each segment in every way.
@Suite("Topic paths: properties") struct TopicPathPropertyTests {
    private static let alphabet = ["a", "b", "$c"]
    private static let networks = ["", "n", "m"]
    /// Deeper than any pattern here, so that `>` is more than one segment somewhere.
    private static let depth = 5

    /// Every path of up to `depth` segments, as texts without a network.
    private static let paths: [String] = {
        var all: [String] = []
        var level = alphabet
        for _ in 0..<depth {
            all += level
            level = level.flatMap { path in alphabet.map { "\(path)/\($0)" } }
        }
        return all
    }()

    /// Returns the paths that a pattern matches, written out.
    private static func meaning(of segments: [String]) -> Set<String> {
        var found = [""]
        for segment in segments {
            if segment == ">" {
                let tails = paths
                return Set(found.flatMap { start in tails.map { start.isEmpty ? $0 : "\(start)/\($0)" } })
            }
            let choices = segment == "*" || segment.first == "{" ? alphabet : [segment]
            found = found.flatMap { start in choices.map { start.isEmpty ? $0 : "\(start)/\($0)" } }
        }
        return Set(found)
    }

    private static func pattern(using random: inout SplitMix64) -> [String] {
        let count = Int.random(in: 1..<depth, using: &random)
        return (0..<count).map { place in
            switch Int.random(in: 0..<6, using: &random) {
            case 0: "*"
            case 1: "{p\(place)}"
            case 2 where place == count - 1: ">"
            default: alphabet.randomElement(using: &random) ?? ""
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `a pattern matches exactly the paths that it stands for`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let paths = try Self.paths.map { try TopicPath($0) }
        for _ in 0..<100 {
            let segments = Self.pattern(using: &random)
            let pattern = try TopicPath(segments.joined(separator: "/"))
            let meaning = Self.meaning(of: segments)
            let matched = Set(paths.filter { pattern.matches($0) }.map(\.path))
            #expect(matched == meaning.intersection(Self.paths), "\(pattern), seed \(seed)")
        }
    }

    @Test func `what a pattern finds in a path leads back to the path`() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<2_000 {
            let segments = Self.pattern(using: &random).filter { $0 != "*" && $0 != ">" }
            guard !segments.isEmpty else { continue }
            let pattern = try TopicPath(segments.joined(separator: "/"), network: "n")
            let path = try TopicPath(Self.paths.randomElement(using: &random) ?? "", network: "n")
            guard let parameters = pattern.parameters(of: path) else {
                #expect(!pattern.matches(path))
                continue
            }
            #expect(try pattern.filled(with: parameters) == path)
        }
    }

    @Test func `networks never overlap, and patterns match no patterns`() throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<500 {
            let segments = Self.pattern(using: &random).joined(separator: "/")
            let other = Self.pattern(using: &random).joined(separator: "/")
            for (network, another) in zip(Self.networks, Self.networks.reversed()) where network != another {
                let pattern = try TopicPath(segments, network: network)
                for text in Self.paths.prefix(40) {
                    #expect(!pattern.matches(try TopicPath(text, network: another)))
                }
            }
            let (pattern, otherPattern) = (try TopicPath(segments), try TopicPath(other))
            if otherPattern.isPattern { #expect(!pattern.matches(otherPattern)) }
        }
    }

    @Test func `a text is read as it was written`() throws {
        var random = SplitMix64(seed: 6)
        for _ in 0..<2_000 {
            let network = Self.networks.randomElement(using: &random) ?? ""
            let path = try TopicPath(Self.pattern(using: &random).joined(separator: "/"), network: network)
            #expect(try TopicPath(path.description) == path)
            #expect(path.parent.map { path.starts(with: $0) } ?? (path.segments.count == 1))
            #expect(path.starts(with: path))
        }
    }
}
