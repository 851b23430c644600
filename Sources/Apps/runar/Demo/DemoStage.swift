internal import Foundation
internal import Locking

/// The devices of the demo and what has been shown with them.
final class DemoStage: Sendable {
    let owner: DemoDevice
    let phone: DemoDevice
    let server: DemoDevice
    let stranger: DemoDevice
    let folder: String
    /// Facts that later steps need: ids, texts, addresses.
    let facts = Locked<[String: String]>([:])
    private let steps = Locked<[DemoReport.Step]>([])
    private let screen: DemoScreen

    init(folder: String, screen: DemoScreen) throws {
        self.folder = folder
        self.screen = screen
        owner = try DemoDevice("laptop", in: folder)
        phone = try DemoDevice("phone", in: folder)
        server = try DemoDevice("server", in: folder)
        stranger = try DemoDevice("stranger", in: folder)
    }

    var members: [DemoDevice] { [owner, phone, server] }

    /// A fact of an earlier step.
    func fact(_ name: String) throws -> String {
        guard let value = facts.withLock({ $0[name] }) else {
            throw CommandFailure("demo", .software, "an earlier step did not find out: \(name)")
        }
        return value
    }

    func note(_ name: String, _ value: String) { facts.withLock { $0[name] = value } }

    /// Performs every step; the first one that fails is the last one.
    func perform() async -> DemoReport {
        let hasWorked = await withDiscardingTaskGroup(returning: Bool.self) { group in
            let hasWorked = await self.performSteps(&group)
            await cleanUp()
            group.cancelAll()
            return hasWorked
        }
        return DemoReport(ok: hasWorked, steps: steps.withLock { $0 })
    }

    private func performSteps(_ group: inout DiscardingTaskGroup) async -> Bool {
        screen.headline("three devices and a stranger, each a process with a home of its own, in \(folder)")
        guard await step("make three devices", makeDevices), await step("create a network", createNetwork),
            await step("issue tokens for two peers", issueTokens), await step("join with text and token", join)
        else { return false }
        let started = ContinuousClock.now
        do {
            for device in members { try device.start(["up", "--end-with-input"], into: device.node, &group) }
        } catch {
            return fail("start three nodes", since: started, error)
        }
        guard await step("start three nodes", since: started, waitForNodes) else { return false }
        do {
            for device in members {
                let arguments = ["listen", "--events", "--accept-files", device.inbox]
                try device.start(arguments, into: device.listener, &group)
            }
        } catch {
            return fail("listen on each", since: started, error)
        }
        guard await step("connect by QUIC", connect), await step("message to the phone", messageToPhone),
            await step("message back", messageBack), await step("broadcast to both", broadcast),
            await step("send a 64 MiB file", sendFile)
        else { return false }
        guard await step("refuse: no token", refuseNoToken), await step("refuse: expired token", refuseExpired),
            await step("refuse: token of another peer", refuseOtherPeer),
            await step("refuse: token of another network", refuseOtherNetwork)
        else { return false }
        guard await step("revoke the server", revoke), await step("refuse: revoked member", refuseRevoked) else {
            return false
        }
        return true
    }

    private func step(
        _ name: String,
        since started: ContinuousClock.Instant = .now,
        _ body: () async throws -> String
    ) async -> Bool {
        do {
            let detail = try await body()
            finish(
                DemoReport.Step(
                    name: name,
                    ok: true,
                    milliseconds: started.duration(to: .now).milliseconds,
                    detail: detail
                )
            )
            return true
        } catch {
            return fail(name, since: started, error)
        }
    }

    private func fail(_ name: String, since started: ContinuousClock.Instant, _ error: any Error) -> Bool {
        let detail = CommandFailure(error).message
        finish(
            DemoReport.Step(
                name: name,
                ok: false,
                milliseconds: started.duration(to: .now).milliseconds,
                detail: detail
            )
        )
        return false
    }

    private func finish(_ step: DemoReport.Step) {
        steps.withLock { $0.append(step) }
        screen.show(step)
    }

    /// Ends every process that is still there.
    func cleanUp() async {
        await withDiscardingTaskGroup { group in
            for device in members + [stranger] { group.addTask { await device.endAll() } }
        }
    }

    /// What the processes said beside their results, for whoever looks for the mistake.
    func showLogs() {
        for device in members + [stranger] {
            let text = try? String(contentsOfFile: device.logPath, encoding: .utf8)  // a log that is not there is empty
            guard let text, !text.isEmpty else { continue }
            Output.note("--- \(device.name)")
            Output.note(text)
        }
    }
}
