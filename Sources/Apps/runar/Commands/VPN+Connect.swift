internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import ExitClient
internal import ExitModel
internal import Identity
internal import Logging
internal import Platform

/// Connects this machine to an exit.
struct ConnectVPN: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to an exit until Control-C or `runar vpn disconnect`; needs root.",
        discussion: """
            The exit, its operator's key and the roots stay in DIR/exit.json, the voucher in the vault next to it. A new token \
            waits for 1 to 30 minutes before it is used, because issuer and gateway together could recognise one that is \
            used at once. With --json each state is an object on a line.
            """
    )

    @Argument(help: "A location, such as us-east-1, us-east or us; without it any.")
    var location: String?
    @OptionGroup var exit: VPNExitOptions
    @Option(
        help: ArgumentHelp("The file with the operator's voucher; - is standard input.", valueName: "file"),
        completion: .file()
    )
    var voucher: String?
    @Flag(help: "Use a new token at once, although it is easier to recognise.")
    var now = false
    @OptionGroup var place: VPNPlace

    func run() async throws {
        guard Posix.user == 0 else {
            throw CommandFailure(
                "needs-root",
                .notPermitted,
                "a tunnel changes the routes of this machine: run the command as root"
            )
        }
        let directory = try DataDirectory(at: try place.directory)
        let lock = try directory.lock(for: "a connection", remedy: "end it with `runar vpn disconnect` first")
        defer { withExtendedLifetime(lock) {} }
        let record = try exit.record(in: directory)
        let vault = try ExitVault(in: directory)
        if let voucher {
            let text = try InputText.read(voucher, limit: 1_024)
            try vault.store(voucher: text.filter { !$0.isWhitespace })
        }
        let asks = !now && Posix.isTerminal(0)
        let controller = VPNController(
            try record.settings(asking: asks || now),
            vault: vault,
            transport: ExitTransport(roots: record.roots),
            tunnel: SupervisedTunnel(
                enginePath: try ChildProcess.ownPath(),
                socketPath: directory.file("engine.sock")
            )
        )
        try await follow(controller, record, directory)
    }

    /// Runs the connection with its control socket until it ends.
    private func follow(
        _ controller: VPNController,
        _ record: VPNExitRecord,
        _ directory: DataDirectory
    ) async throws {
        let control = VPNControl(directory: directory.path)
        let upload = directory.file("upload-")
        controller.connect(to: location)
        _ = try await Interruption.run { [self] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await controller.run() }
                group.addTask {
                    try await control.run(controller, uploadPrefix: upload, logger: Logger(label: "Runar.VPN"))
                }
                group.addTask { try await show(controller, record, directory) }
                // The first end is that of the connection.
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Prints the states until the last one, and stores the exit once its list was accepted.
    private func show(
        _ controller: VPNController,
        _ record: VPNExitRecord,
        _ directory: DataDirectory
    ) async throws {
        var last: VPNState?
        var isStored = false
        while true {
            let state = try await controller.state(after: last)
            // Before the driver has taken the request.
            let isFirst = last == nil && state == .disconnected
            last = state
            guard !isFirst else { continue }
            if !isStored, state.followsList {
                try record.store(in: directory)
                isStored = true
            }
            let report = VPNStatusReport(controller)
            if place.json { try Output.json(report) } else { Output.note(report.lines.first ?? state.word) }
            if case .failed(let failure) = state { throw failure }
            if state == .disconnected { return }
            if state == .connecting(.confirming) { try await confirm(controller) }
        }
    }

    private func confirm(_ controller: VPNController) async throws {
        let question =
            "No token is old enough. One that is used now is easier to recognise for issuer and gateway together. Use it?"
        let accepts =
            if now { true } else { try await Prompt.accepts(question, otherwise: "give --now, or try again later") }
        if accepts { controller.confirm() } else { controller.disconnect() }
    }
}
