internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// A node that runs until it is stopped: it serves commands and its console, and reports the peers that connect and
/// disconnect.
struct NodeRun: Sendable {
    let handler: RequestHandler
    let socket: NodeSocket
    let console: NodeConsole?
    let manager: ServiceManager?
    let asJSON: Bool

    /// Runs until the first of `stops` or a signal; operations in flight with peers then end first, unless there is another
    /// one.
    ///
    /// - Throws: ``CommandFailure`` and the errors of a start.
    func run(stops: AsyncStream<Void>, stop: AsyncStream<Void>.Continuation) async throws {
        let signals = await Interruption.signals()
        let result: Result<Void, any Error> = await withTaskGroup(of: Result<Void, any Error>?.self) { group in
            group.addTask {
                for await _ in signals { stop.yield() }
                return nil
            }
            group.addTask {
                do {
                    try await serve()
                    return nil
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                do {
                    try await Output.waitForDeparture()
                    return nil
                } catch {
                    return error is CancellationError ? nil : .failure(error)
                }
            }
            group.addTask {
                for await _ in stops { break }
                return .success(())
            }
            defer { group.cancelAll() }
            while let end = await group.next() {
                guard let end else { continue }
                await manager?.tell(.stopping)
                if case .success = end { await drain(unless: stops) }
                return end
            }
            return .success(())
        }
        await handler.endCircle()
        await handler.node.stop()
        try result.get()
    }

    /// Starts the node and serves until the task is cancelled.
    private func serve() async throws {
        let events = handler.node.eventStream
        try await withThrowingDiscardingTaskGroup { group in
            if let watch = handler.watch {
                let sources = watch.listen()
                group.addTask { await watch.run(sources) }
            }
            let console = try await startConsole(in: &group)
            try await handler.startNode()
            try await startSocket(in: &group)
            try await sayReady(console: console)
            if let manager { group.addTask { await manager.watch { await handler.node.isResponsive() } } }
            for await event in events { try tell(EventReport(event)) }
            group.cancelAll()
        }
    }

    /// Returns once commands can connect.
    private func startSocket(in group: inout ThrowingDiscardingTaskGroup<any Error>) async throws {
        let (beginnings, beginning) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        group.addTask {
            do {
                try await socket.run { beginning.yield(.success(())) }
            } catch {
                beginning.yield(.failure(error))
                throw error
            }
        }
        for await beginning in beginnings { return try beginning.get() }
    }

    /// Returns the address of the console once it serves.
    private func startConsole(in group: inout ThrowingDiscardingTaskGroup<any Error>) async throws -> String? {
        guard let console else { return nil }
        let (beginnings, continuation) = AsyncStream.makeStream(of: Result<String, any Error>.self)
        group.addTask {
            do {
                try await console.run(for: handler) { continuation.yield(.success($0)) }
            } catch {
                if case .terminated = continuation.yield(.failure(error)) {
                    Output.note("warning: the console ended: \(error); restart the node to have it again")
                }
            }
            continuation.finish()
        }
        for await beginning in beginnings { return try beginning.get() }
        return nil
    }

    /// Finishes operations in flight, unless there is another stop.
    private func drain(unless stops: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await handler.node.drain() }
            group.addTask { for await _ in stops { return } }
            await group.next()
            group.cancelAll()
        }
    }

    private func sayReady(console address: String?) async throws(CommandFailure) {
        let report = ReadyReport(
            processId: SystemProcess.id,
            peerId: handler.node.peerId.base64Encoded,
            addresses: handler.node.listenAddresses.map(\.description),
            console: address,
            consoleLan: console?.lan.currentPlace.map {
                LanReport(addresses: $0.addresses, fingerprint: $0.fingerprint)
            }
        )
        if asJSON {
            try Output.json(report)
        } else {
            try Output.line("ready: peer \(handler.node.peerId.text)")
            try Output.line("listens on \(report.addresses.joined(separator: ", "))")
            if let address {
                try Output.line(HomeHint.repeated(in: "console at \(address): open it with `runar console`"))
            }
            if let lan = report.consoleLan {
                try Output.line("console for the local network at \(lan.addresses.joined(separator: ", "))")
                let pairing = HomeHint.repeated(in: "pair with `runar console --lan`")
                try Output.line("its certificate has the fingerprint \(lan.fingerprint): \(pairing)")
            }
            if let note = address.flatMap({ console?.note(on: $0) }) { try Output.line(note) }
        }
        let status = "peer \(handler.node.peerId.short) listens on \(handler.node.listeningPort)"
        await manager?.tell(.ready, .status(status))
    }

    private func tell(_ report: EventReport) throws(CommandFailure) {
        if asJSON { try Output.json(report) } else { try Output.line(report.line) }
    }
}

/// The report that a node serves from now on.
struct ReadyReport: Codable {
    var event = "ready"
    let processId: Int32
    let peerId: String
    let addresses: [String]
    /// The address of the console, if it is enabled; it serves the metrics at `/metrics`.
    let console: String?
    let consoleLan: LanReport?
}

/// The addresses at which devices of the local network find the console, and the fingerprint that identifies it.
struct LanReport: Codable, Hashable, Sendable {
    let addresses: [String]
    /// The fingerprint of its certificate, as browsers show it.
    let fingerprint: String
}
