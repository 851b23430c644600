internal import Identity
internal import Services
package import Tracing

/// Spans around outgoing and incoming requests, joined over the metadata of the request.
///
/// The tracer chooses the fields: `traceparent` and `tracestate` with one for W3C Trace Context. A request of a handler is
/// part of the span of the request that it answers.
package struct RequestTracing: Sendable {
    private let tracer: any Tracer

    /// Traces with `tracer`, or with that of the process; nil without a tracer, so that no work is wasted.
    package init?(_ tracer: (any Tracer)? = nil) {
        let tracer = tracer ?? InstrumentationSystem.tracer
        guard !(tracer is NoOpTracer) else { return nil }
        self.tracer = tracer
    }

    /// A span until `body` has returned, which gets the header to send.
    func sending<Result>(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId?,
        _ body: (RequestHeader) async throws -> Result
    ) async throws -> Result {
        try await tracer.withAnySpan(header.path.text, ofKind: .client) { span in
            Self.describe(header, network, peer, in: span)
            var header = header
            tracer.inject(span.context, into: &header.metadata, using: MetadataInjector())
            return try await body(header)
        }
    }

    /// A span until `body` has returned, as a part of the requester's.
    func serving(
        _ header: RequestHeader,
        in network: NetworkId,
        from peer: PeerId,
        _ body: () async -> Void
    ) async {
        var context = InstrumentationContext.topLevel
        tracer.extract(header.metadata, into: &context, using: MetadataExtractor())
        await tracer.withAnySpan(header.path.text, context: context, ofKind: .server) { span in
            Self.describe(header, network, peer, in: span)
            await body()
        }
    }

    private static func describe(
        _ header: RequestHeader,
        _ network: NetworkId,
        _ peer: PeerId?,
        in span: any Span
    ) {
        span.attributes["rpc.system"] = "runar"
        span.attributes["rpc.service"] = header.servicePath
        span.attributes["rpc.method"] = header.path.topic.segments.dropFirst().joined(separator: "/")
        span.attributes["runar.network"] = network.short
        if let peer { span.attributes["runar.peer"] = peer.short }
    }
}

/// Writes fields of a request's metadata; those that do not fit are left out, since no request shall fail for them.
struct MetadataInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [RequestHeader.Field]) {
        let name = key.lowercased()
        guard !name.isEmpty, name.utf8.count <= RequestHeader.nameByteLimit,
            value.utf8.count <= RequestHeader.valueByteLimit
        else { return }
        let field = RequestHeader.Field(name: name, value: value)
        if let position = carrier.firstIndex(where: { $0.name.lowercased() == name }) {
            carrier[position] = field
            return
        }
        let byteCount = carrier.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard carrier.count < RequestHeader.fieldLimit,
            byteCount + name.utf8.count + value.utf8.count <= Self.byteLimit
        else { return }
        carrier.append(field)
    }

    /// All lines together leave room for the path in the header.
    private static let byteLimit = RequestHeader.byteLimit / 2
}

/// Reads them, whatever the case of their names.
struct MetadataExtractor: Extractor {
    func extract(key: String, from carrier: [RequestHeader.Field]) -> String? {
        let name = key.lowercased()
        return carrier.first { $0.name.lowercased() == name }?.value
    }
}
