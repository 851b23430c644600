internal import Foundation
internal import Identity
internal import Node
internal import Platform
internal import RunarNode

/// Carries out requests on the one node of a home.
///
/// Whoever holds the home's lock has a handler: a node that runs by itself, or a command for its own duration.
final class RequestHandler: Sendable {
    /// Takes the replies to one request.
    typealias Reply = @Sendable (ControlReply) async -> Void

    let node: RunarNode
    let keys: any KeyStorage
    let home: HomeDirectory
    let settings: Settings
    /// The web console, if this node has one.
    let console: NodeConsole?
    let files = FileDesk()
    let joins = QuestionDesk<JoinAnswer>(asker: "the joiner")
    let calls = QuestionDesk<CallAnswer>(asker: "the caller")
    /// Ends the node that serves others; nil in a command that is about to end anyway.
    private let stop: (@Sendable () -> Void)?
    let started = ContinuousClock.now
    /// What keeps what happens for those who look; nil where nobody can.
    let watch: NodeWatch?

    /// Whether the node is there for one command only.
    var isPassing: Bool { stop == nil }

    init(
        node: RunarNode,
        keys: any KeyStorage,
        home: HomeDirectory,
        settings: Settings,
        console: NodeConsole? = nil,
        watch: NodeWatch? = nil,
        stop: (@Sendable () -> Void)? = nil
    ) {
        self.node = node
        self.watch = watch
        self.keys = keys
        self.home = home
        self.settings = settings
        self.console = console
        self.stop = stop
    }

    /// Starts the node and puts this handler in charge of the files that peers offer.
    func startNode() async throws {
        if let watch { _ = files.add(watch.files.listener) }
        try await node.start()
        node.receiveFiles(files.receiver(standing: settings.text(.acceptFiles)))
    }

    /// Answers with any number of updates and then exactly one result or failure.
    func answer(_ request: ControlRequest, _ reply: @escaping Reply) async {
        do {
            if request.needsNetwork, !node.isRunning { throw NodeError.notRunning }
            let report = try await perform(request, reply)
            watch?.noteDone(request)
            await reply(.result(report))
        } catch {
            await reply(.failure(failure(error, of: request)))
        }
    }

    private func perform(_ request: ControlRequest, _ reply: @escaping Reply) async throws -> String {
        switch request {
        case .status: return JSONText.encode(try status())
        case .stop:
            guard let stop else { throw Self.passingNode }
            stop()
            return JSONText.encode(StopReport(stopped: true, processId: SystemProcess.id))
        case .consoleAddress: return JSONText.encode(try consoleAddress())
        case .openConsole: return JSONText.encode(try await openConsole(reply))
        case .pairConsole(let address): return JSONText.encode(try await pairConsole(at: address, reply))
        case .peers(let all):
            if all { await findMembers() }
            return JSONText.encode(try peers(all: all))
        case .connect(let peer, let network, let address, let isRelayOnly):
            return JSONText.encode(try await connect(peer, network, address, overRelay: isRelayOnly))
        case .connectByText(let text): return JSONText.encode(try await connect(byText: text))
        case .connectionText(let network, let address):
            return JSONText.encode(try connectionText(network, address: address))
        case .publicAddress:
            return JSONText.encode(PublicAddressReport(address: try await node.natTraversal.getPublicEndpoint()))
        case .send(let peer, let text): return JSONText.encode(try await send(text, to: peer))
        case .broadcast(let network, let text): return JSONText.encode(try await broadcast(text, in: network))
        case .sendFile(let peer, let path): return JSONText.encode(try await sendFile(path, to: resolve(peer), reply))
        case .listen(let listening):
            try await listen(listening, reply)
            return JSONText.encode(DoneReport(done: true))
        case .publish(let topic, let network, let event):
            return JSONText.encode(try await publish(event, to: topic, in: network))
        case .subscribe(let topic, let network, let includesPast):
            try await subscribe(to: topic, in: network, includesPast: includesPast, reply)
            return JSONText.encode(DoneReport(done: true))
        case .answerOffer(let number, let directory):
            try files.answer(number, directory)
            return JSONText.encode(DoneReport(done: true))
        case .invite(let terms): return JSONText.encode(try await invite(terms, reply))
        case .joinByInvitation(let text): return JSONText.encode(try await join(by: text, reply))
        case .answerJoin(let number, let isAllowed, let label, let lifeSeconds):
            if let label { try NameRule.check(label) }
            try joins.answer(number, JoinAnswer(isAllowed: isAllowed, label: label, lifeSeconds: lifeSeconds))
            return JSONText.encode(DoneReport(done: true))
        case .services(let peer, let network): return JSONText.encode(try await services(of: peer, in: network))
        case .call(let order): return JSONText.encode(try await call(order))
        case .serve(let serving):
            try await serve(serving, reply)
            return JSONText.encode(DoneReport(done: true))
        case .answerCall(let number, let answer):
            try calls.answer(number, answer)
            return JSONText.encode(DoneReport(done: true))
        case .put(let key, let value, let condition, let lifetime):
            return JSONText.encode(try await put(value, under: key, condition, lifetime: lifetime))
        case .get(let key, let options): return JSONText.encode(try await get(key, options))
        case .delete(let key): return JSONText.encode(try await delete(key))
        case .discover(let network): return JSONText.encode(try await discover(in: network))
        default: return try await administer(request)
        }
    }

    /// A node that lives as long as a command is ended with it.
    private static var passingNode: CommandFailure {
        CommandFailure(
            "passing-node",
            .tryAgain,
            "process \(SystemProcess.id) is a command that runs a node until it is done: end it with Control-C or kill"
        )
    }

    private func administer(_ request: ControlRequest) async throws -> String {
        switch request {
        case .diagnose(let peer): return JSONText.encode(try await facts(about: peer))
        case .networks: return JSONText.encode(NetworksReport(networks: try networkReports()))
        case .network(let name): return JSONText.encode(try report(resolve(name)))
        case .createNetwork(let name, let index): return JSONText.encode(try createNetwork(name, index: index))
        case .renameNetwork(let network, let name): return JSONText.encode(try rename(network, to: name))
        case .leaveNetwork(let network): return JSONText.encode(try leave(network))
        case .issueToken(let peer, let network, let expiration, let label, let isRenewable):
            let report = try issue(
                to: peer,
                in: network,
                expiration: expiration,
                label: label,
                isRenewable: isRenewable
            )
            return JSONText.encode(report)
        case .revoke(let peer, let network): return JSONText.encode(try revoke(peer, in: network))
        case .join(let text, let network): return JSONText.encode(try await join(text, network: network))
        case .exportKey(let name, let isRevealed): return JSONText.encode(try exportKey(name, isRevealed: isRevealed))
        case .importKey(let name, let hex, let replacing):
            return JSONText.encode(try importKey(name, hex: hex, replacing: replacing))
        case .renewDevice: return JSONText.encode(try await renewDevice())
        case .backup: return JSONText.encode(try backup())
        case .deviceRequest: return JSONText.encode(try deviceRequest())
        case .addDevice(let terms): return JSONText.encode(try addDevice(terms))
        case .setUpDevice(let text): return JSONText.encode(try await setUpDevice(text))
        default: preconditionFailure("nobody answers \(request)")
        }
    }
}
