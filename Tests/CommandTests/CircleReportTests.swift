internal import Foundation
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService

/// The reports of the circle, as people read them.
@Suite("Circle reports") struct CircleReportTests {
    private static func stream(
        _ name: String,
        isOwn: Bool = false,
        posting: String = "members",
        participation: String = "joined",
        members: [(name: String, hasJoined: Bool)] = []
    ) throws -> StreamReport {
        let list = members.map { member in
            """
            {"personId":"\(member.name)","name":"\(member.name)","joined":\(member.hasJoined),"trust":"trusted"}
            """
        }
        let json = """
            {"streamId":"id-\(name)","name":"\(name)","creatorId":"a","creator":"Ada","own":\(isOwn),
            "posting":"\(posting)","innerCircle":false,"participation":"\(participation)",
            "members":[\(list.joined(separator: ","))]}
            """
        return try JSONDecoder().decode(StreamReport.self, from: Data(json.utf8))
    }

    @Test func `the list of the circle leaves out own streams without members`() throws {
        let local = CircleReport.Device(peerId: "d", connected: true, sendingKeys: 0, low: false, local: true)
        let report = CircleReport(
            personId: "p",
            name: "Carol",
            blurb: nil,
            did: nil,
            handle: nil,
            card: nil,
            people: [],
            streams: [
                try Self.stream("Post", isOwn: true, posting: "creator"),
                try Self.stream("Trip", participation: "invited"),
                try Self.stream("Band", isOwn: true, members: [("Bob", true), ("Eve", false)]),
            ],
            devices: [local],
            homes: [CircleReport.Home(peerId: "h", label: "server", connected: false, local: false)],
            blocked: [CircleReport.Blocked(personId: "m", name: "Mallory", reportedAt: 1, reasons: ["spam": 2])]
        )
        let text = report.lines.joined(separator: "\n")
        #expect(!text.contains("Post") && !text.contains("your device"), "\(text)")
        let all = [
            "Trip (id-Trip)", "you are invited", "Bob, joined", "Eve, invited", "blocked: Mallory (m)",
            "home of your mail: h (server), not connected",
        ]
        for words in all {
            #expect(text.contains(words), "\(words): \(text)")
        }
    }

    @Test func `a stream counts the people who joined, and tells who writes`() throws {
        let band = try Self.stream("Band", isOwn: true, members: [("Bob", true), ("Eve", false)])
        #expect(band.summary == "2 members")
        #expect(band.reasonForSilence == nil)
        let news = try Self.stream("News", posting: "creator")
        #expect(news.summary == "only Ada writes")
        #expect(news.reasonForSilence?.contains("only Ada writes") == true)
        let own = try Self.stream("News", isOwn: true, posting: "creator")
        #expect(own.summary == "1 member")
        #expect(own.reasonForSilence == nil)
    }

    @Test func `the continuation of a search ends it`() throws {
        let stream = try Self.stream("Band")
        var report = ThoughtsReport(stream: stream, thoughts: [], searchedTo: 7)
        report.append(ThoughtsReport(stream: stream, thoughts: []))
        #expect(report.searchedTo == nil)
        #expect(report.lines == ["the stream Band has no thoughts here"])
    }
}
