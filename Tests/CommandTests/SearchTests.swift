internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("Search") struct SearchTests {
    @Test(arguments: [
        ("sensor/0999", "SENSOR/1", false), ("sensor/0999", "SENSOR/09", true), ("sensor", "sensors", false),
        ("Küche", "kuche", true), ("Kuche", "küche", true), ("Küche", "ü", true), ("Küche", "x", false),
        ("[a]", "{", false), ("a@b", "`", false),
    ])
    func `capitals and accents make no difference`(text: String, part: String, isFound: Bool) throws {
        #expect(try #require(Search(part)).isIn(text) == isFound)
    }

    @Test func `nothing to look for is no search`() {
        #expect(Search("") == nil)
        #expect(Page().matches([nil]))
    }

    @Test func `what is found without the tables of Unicode is what is found with them`() throws {
        var random = SplitMix64(seed: 7)
        func word(_ counts: ClosedRange<Int>) -> String {
            let count = Int.random(in: counts, using: &random)
            return String((0..<count).compactMap { _ in "aAbB1/_-".randomElement(using: &random) })
        }
        for _ in 0..<2000 {
            let (text, part) = (word(0...12), word(1...3))
            #expect(try #require(Search(part)).isIn(text) == text.localizedStandardContains(part), "\(part) in \(text)")
        }
    }
}
