internal import Bytes
internal import Services
internal import TestSupport
internal import Testing

/// The vectors were written by a program that shares no code with this one.
@Suite("Vectors of requests") struct VectorTests {
    private struct Vectors: Decodable {
        struct Request: Decodable {
            let path: String
            let contentType: UInt8
            let isIdempotent: Bool
            let streamsBody: Bool
            let milliseconds: Int
            let metadata: [[String]]
            let bytes: String
        }

        struct Failure: Decodable {
            let kind: UInt8
            let code: Int32
            let message: String
            let context: String
            let bytes: String
        }

        struct Named: Decodable {
            let name: String
            let bytes: String
        }

        let requests: [Request]
        let failures: [Failure]
        let responses: [String: String]
        let items: [String: String]
        let announcement: String
        let recordKey: String
        let refusedRequests: [Named]
        let refusedFailures: [Named]
        let refusedResponses: [Named]
        let refusedAnnouncements: [Named]
    }

    private let vectors: Vectors

    init() throws {
        self.vectors = try TestSupport.vectors(named: "Services/requests.json")
    }

    @Test func `headers of requests say what they say elsewhere, both ways`() throws {
        for sample in self.vectors.requests {
            let header = RequestHeader(
                path: try RequestPath(sample.path),
                contentType: try #require(ContentType(rawValue: sample.contentType)),
                isIdempotent: sample.isIdempotent,
                streamsBody: sample.streamsBody,
                timeLimit: .milliseconds(sample.milliseconds),
                metadata: sample.metadata.map { .init(name: $0[0], value: $0[1]) }
            )
            let bytes = try Hex.decode(sample.bytes)
            #expect(try RequestHeader(bytes) == header)
            var writer = ByteWriter()
            writer.write([3, 8] as [UInt8])
            writer.writeVarintPrefixed(bytes)
            writer.write([1, 2] as [UInt8])
            #expect(header.bytes(after: [3, 8], body: [1, 2]) == writer.bytes)
        }
    }

    @Test func `failures and responses say what they say elsewhere, both ways`() throws {
        for sample in self.vectors.failures {
            let failure = try ServiceFailure(Hex.decode(sample.bytes))
            #expect(failure.kind.rawValue == sample.kind)
            #expect(failure.code == sample.code)
            #expect(failure.message == (sample.message.isEmpty ? failure.kind.explanation : sample.message))
            #expect(failure.context == sample.context)
            if !sample.message.isEmpty { #expect(Hex.encode(failure.bytes) == sample.bytes) }
        }
        let failure = ServiceFailure(kind: .busy, code: 3, message: "m", context: "c")
        let responses = [
            "ok": ResponseHeader(status: .ok, contentType: .json),
            "okStreaming": ResponseHeader(status: .okStreaming, contentType: .cbor),
            "failed": ResponseHeader(status: .failed(failure)),
        ]
        for (name, header) in responses {
            let bytes = try Hex.decode(try #require(self.vectors.responses[name]))
            #expect(try ResponseHeader(bytes) == header)
            var writer = ByteWriter()
            writer.writeVarintPrefixed(bytes)
            #expect(header.bytes(body: [7]) == writer.bytes + [7])
        }
    }

    @Test func `items, announcements and keys of records are what they are elsewhere`() throws {
        #expect(Hex.encode(ItemHead.bytes([UInt8]("abc".utf8))) == self.vectors.items["item"])
        #expect(Hex.encode(ItemHead.bytes([])) == self.vectors.items["empty"])
        let failure = ServiceFailure(kind: .handler, code: 1, message: "m")
        #expect(Hex.encode(ItemHead.bytes(failure)) == self.vectors.items["failure"])
        let announcement = Announcement(
            version: 7,
            offers: [
                ServiceOffer(
                    path: "math",
                    version: "1.0.0",
                    actions: [ActionOffer(name: "add", isIdempotent: true), ActionOffer(name: "sub")]
                ),
                ServiceOffer(
                    path: "users",
                    isRunning: false,
                    actions: [
                        ActionOffer(name: "users/{id}", streams: true),
                        ActionOffer(name: "list", isIdempotent: true, streams: true), ActionOffer(name: ">"),
                    ]
                ),
            ]
        )
        #expect(Hex.encode(announcement.bytes) == self.vectors.announcement)
        #expect(try Announcement(Hex.decode(self.vectors.announcement)) == announcement)
        #expect(Hex.encode(Services.recordKey(of: "math")) == self.vectors.recordKey)
    }

    @Test func `what breaks a rule is refused`() throws {
        for sample in self.vectors.refusedRequests {
            #expect(throws: WireError.self, "\(sample.name)") { try RequestHeader(Hex.decode(sample.bytes)) }
        }
        for sample in self.vectors.refusedFailures {
            #expect(throws: WireError.self, "\(sample.name)") { try ServiceFailure(Hex.decode(sample.bytes)) }
        }
        for sample in self.vectors.refusedResponses {
            #expect(throws: WireError.self, "\(sample.name)") { try ResponseHeader(Hex.decode(sample.bytes)) }
        }
        for sample in self.vectors.refusedAnnouncements {
            #expect(throws: WireError.self, "\(sample.name)") { try Announcement(Hex.decode(sample.bytes)) }
        }
    }
}
