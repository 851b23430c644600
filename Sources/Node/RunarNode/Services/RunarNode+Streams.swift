internal import Identity
internal import Node
internal import Services

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Requests whose payload or answer is a sequence.
extension RunarNode {
    /// Asks for a sequence of values.
    ///
    /// The sequence may take a day unless `options` say otherwise, and its sender waits while the reader is slow. Where the
    /// handler answers with one value, that is the sequence. `path` and the choice of who is asked are those of
    /// `request(_:payload:options:)`; once the sequence began, nobody else is asked.
    ///
    /// - Throws: as `request(_:payload:options:)`, as far as it is known before the first value.
    public func stream<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        payload: Input?,
        options: RequestOptions = RequestOptions()
    ) async throws -> RunarStream<Output> {
        let item = try payload.map { try options.encoding.encode($0) }
        return RunarStream(
            source: try await self.open(self.services.route(path), options) { send in
                if let item { try await send(item) }
            }
        )
    }

    /// Sends a sequence of values and asks for one.
    ///
    /// The values are asked of `inputs` as quickly as the handler takes them; an error of theirs ends the request.
    public func stream<Inputs: AsyncSequence & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        sending inputs: Inputs,
        options: RequestOptions = RequestOptions()
    ) async throws -> RunarStream<Output> where Inputs.Element: Encodable & Sendable {
        RunarStream(
            source: try await self.open(self.services.route(path), options) { send in
                for try await input in inputs { try await send(options.encoding.encode(input)) }
            }
        )
    }

    /// Sends a sequence of values and returns the one that the handler makes of them.
    ///
    /// - Throws: as `request(_:payload:options:)`; ``RunarError`` 5002 when there is no answer.
    public func request<Inputs: AsyncSequence & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        sending inputs: Inputs,
        options: RequestOptions = RequestOptions()
    ) async throws -> Output where Inputs.Element: Encodable & Sendable {
        var options = options
        options.timeout = options.timeout ?? self.config.requestTimeout
        let answer: RunarStream<Output> = try await self.stream(path, sending: inputs, options: options)
        guard let value = try await answer.next() else {
            throw RunarError.failure(.decoding, message: "the handler returned nothing", context: path)
        }
        return value
    }

    // MARK: - Inside

    /// Sends the items of a request.
    typealias Upload = @Sendable (_ send: @Sendable (Data) async throws -> Void) async throws -> Void

    private func open(
        _ route: ServiceHost.Route,
        _ options: RequestOptions,
        _ upload: @escaping Upload
    ) async throws -> any ItemSource {
        var options = options
        options.timeout = options.timeout ?? RequestHeader.longestTimeLimit
        if let hosted = try self.local(route, options), let action = route.action {
            return self.openLocally(route, options, action, of: hosted, upload)
        }
        guard case .known(let network) = route.network else { throw ServiceFailures.noService(route.path) }
        return try await self.translatingFailures(of: route) {
            var header = self.header(route, options.encoding, hasBody: true, options)
            header.streamsBody = true
            let request = try await self.running().openRequest(header, in: network, to: options.peer)
            let task = Task {
                do {
                    try await upload { try await request.send([UInt8]($0)) }
                    try await request.finish()
                } catch is ServiceFailure {
                    // The provider answered without reading all, or the reader hears of it.
                } catch {
                    try? await request.fail(ServiceFailure(handler: error, route.path))  // it may be over
                }
            }
            return OutgoingSource(request, options.encoding, upload: task) { error in
                switch error {
                case let failure as ServiceFailure: RunarError(failure, route.path)
                case is CancellationError where Task.isCancelled: error
                default: RunarError(error)
                }
            }
        }
    }

    private func openLocally(
        _ route: ServiceHost.Route,
        _ options: RequestOptions,
        _ action: any ServiceAction,
        of hosted: HostedService,
        _ upload: @escaping Upload
    ) -> any ItemSource {
        let reply = hosted.service.encoding ?? options.encoding
        let (inputs, outputs) = (ItemChannel(options.encoding), ItemChannel(reply))
        let sending = Task {
            do {
                try await upload { try await inputs.send($0) }
                inputs.finish()
            } catch {
                inputs.finish(.failure(ServiceFailures.handler(error, route.path)))
            }
        }
        let handling = Task {
            do {
                try await self.call(route, options, of: hosted) { context in
                    if let action = action as? any StreamingServiceAction {
                        try await action.run(inputs, outputs, in: reply, context)
                    } else {
                        let payload = try await inputs.next()?.bytes ?? Data()
                        let request = RunarRequest(context: context, payload: payload, encoding: options.encoding)
                        try await outputs.send(hosted.answer(request, action, in: reply).bytes)
                    }
                }
                outputs.finish()
            } catch {
                outputs.finish(.failure(error))
            }
            inputs.abandon()
        }
        return LocalSource(outputs, [sending, handling])
    }
}
