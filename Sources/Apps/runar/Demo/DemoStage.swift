internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import NodeModel
internal import NodeService

/// The devices of the demo and the facts that its steps have shown.
final class DemoStage: Sendable {
    let owner: DemoDevice
    let phone: DemoDevice
    let server: DemoDevice
    let outsider: DemoDevice
    /// The device that becomes a member after the server was revoked.
    let tablet: DemoDevice
    /// The device that only the laptop knows: it does not announce itself, and uses no hash table.
    let watch: DemoDevice
    /// The server as it was before it was revoked.
    let thief: DemoDevice
    /// The parties of the private exit, which have processes only in the last part.
    let exit: DemoExit
    let folder: String
    /// The output about the invitation that the laptop shows.
    let invitation = LineLog(of: "the invitation of laptop")
    /// Facts that later steps need: ids, texts, addresses.
    let facts = Locked<[String: String]>([:])
    private let steps = Locked<[DemoReport.Step]>([])
    private let exitSkipped = Locked<String?>(nil)
    private let screen: DemoScreen

    init(folder: String, screen: DemoScreen) throws {
        self.folder = folder
        self.screen = screen
        // Below the system's range of ephemeral ports; two concurrent demos hardly ever choose the same.
        let group = "239.255.42.98:\(UInt16.random(in: 10_000..<32_000))"
        owner = try DemoDevice("laptop", in: folder, group: group)
        phone = try DemoDevice("phone", in: folder, group: group)
        server = try DemoDevice("server", in: folder, group: group)
        outsider = try DemoDevice("outsider", in: folder, group: group)
        tablet = try DemoDevice("tablet", in: folder, group: group)
        watch = try DemoDevice("watch", in: folder, group: group)
        thief = try DemoDevice("thief", in: folder, group: group)
        exit = try DemoExit(folder: folder, group: group)
    }

    var members: [DemoDevice] { [owner, phone, server] }

    /// All devices that ever have a process.
    private var devices: [DemoDevice] { members + [outsider, tablet, watch, thief] + exit.devices }

    /// A fact of an earlier step.
    func fact(_ name: String) throws -> String {
        guard let value = facts.withLock({ $0[name] }) else {
            throw CommandFailure("demo", .software, "an earlier step did not record: \(name)")
        }
        return value
    }

    func note(_ name: String, _ value: String) { facts.withLock { $0[name] = value } }

    /// Performs every step; the first one that fails is the last one.
    func perform() async -> DemoReport {
        let hasWorked = await withDiscardingTaskGroup(returning: Bool.self) { group in
            let hasWorked = await performSteps(&group)
            await cleanUp()
            group.cancelAll()
            return hasWorked
        }
        return DemoReport(ok: hasWorked, steps: steps.withLock { $0 }, exitSkipped: exitSkipped.withLock { $0 })
    }

    private func performSteps(_ group: inout DiscardingTaskGroup) async -> Bool {
        screen.headline("devices and an outsider, each a process with a home of its own, in \(folder)")
        guard await step("make four devices and an outsider", makeDevices),
            await step("create a network", createNetwork), await step("issue a token for the phone", issueToken),
            await step("join with text and token", join), await performInvitation(&group)
        else { return false }
        guard await performConnecting(&group), await performTraffic(), await performRelaying(&group),
            await performRefusals(), await step("the watch becomes direct", becomeDirect)
        else { return false }
        guard await performRevocation(&group) else { return false }
        return await performExit(&group)
    }

    private func performInvitation(_ group: inout DiscardingTaskGroup) async -> Bool {
        let (name, started) = ("join by an invitation", ContinuousClock.now)
        do {
            let arguments = ["network", "invite", "Demo", "--preallow", "--label", "server"]
            try owner.start(arguments, into: invitation, &group)
        } catch {
            return fail(name, since: started, error)
        }
        return await step(name, since: started, joinByInvitation)
    }

    private func performConnecting(_ group: inout DiscardingTaskGroup) async -> Bool {
        let started = ContinuousClock.now
        let name = "start three nodes"
        guard start(members, for: name, &group), await step(name, since: started, waitForNodes),
            await step("discovery: no address typed", since: started, connectMembers)
        else { return false }
        do {
            for device in members {
                let arguments = ["listen", "--events", "--accept-files", device.inbox]
                try device.start(arguments, into: device.listener, &group)
                try device.start(["subscribe", "home/>"], into: device.subscriber, &group)
            }
            let actions = ["read=echo 21.5", "where=cat", "burn=exit 3"]
            try server.start(["serve", "thermometer"] + actions, into: server.service, &group)
        } catch {
            return fail("listen and subscribe on each", since: .now, error)
        }
        return await step("listen and subscribe on each", waitForListeners)
    }

    /// Starts the nodes of devices; false when the step `name` has failed with that.
    private func start(_ devices: [DemoDevice], for name: String, _ group: inout DiscardingTaskGroup) -> Bool {
        do {
            for device in devices { try device.start(["up", "--end-with-input"], into: device.node, &group) }
            return true
        } catch {
            return fail(name, since: .now, error)
        }
    }

    private func performRelaying(_ group: inout DiscardingTaskGroup) async -> Bool {
        let (name, started) = ("the watch joins, over a relay", ContinuousClock.now)
        guard await step("admit a watch", admitWatch) else { return false }
        do {
            let hidden = ["--discovery", "off", "--hash-table", "off"]
            try watch.start(["up", "--end-with-input"] + hidden, into: watch.node, &group)
        } catch {
            return fail(name, since: started, error)
        }
        return await step(name, since: started, connectOverRelay)
    }

    private func performTraffic() async -> Bool {
        guard await step("message to the phone", messageToPhone), await step("message back", messageBack),
            await step("broadcast to both", broadcast), await step("an event to all", publishToAll),
            await step("call a service", callService), await step("send a 64 MiB file", sendFile),
            await step("put on the phone, get on the server", putAndGet),
            await step("refuse: update of an old version", refuseStaleUpdate)
        else { return false }
        return true
    }

    private func performRefusals() async -> Bool {
        guard await step("refuse: no token", refuseNoToken), await step("refuse: expired token", refuseExpired),
            await step("refuse: token of another peer", refuseOtherPeer),
            await step("refuse: token of another network", refuseOtherNetwork)
        else { return false }
        return true
    }

    private func performRevocation(_ group: inout DiscardingTaskGroup) async -> Bool {
        guard await step("revoke the server", revoke), await step("a new member secret", changeSecret),
            await step("refuse: revoked member", refuseRevoked), await step("admit a tablet", admitTablet)
        else { return false }
        let name = "a copy of the server finds no peer"
        guard start([thief], for: name, &group), await step("start a copy of the server", waitForThief),
            start([tablet], for: name, &group)
        else { return false }
        return await step(name, connectTabletOnly)
    }

    /// Shows the private exit, or the reason why this system cannot.
    private func performExit(_ group: inout DiscardingTaskGroup) async -> Bool {
        do {
            if let obstacle = DemoSpaces.obstacle { return skipExit(obstacle) }
            try await exit.spaces.make()
        } catch {
            return skipExit(CommandFailure(error).message)
        }
        screen.headline("the private exit: client, gateway and page server, each in a network namespace of this demo")
        guard await perform("start an issuer of tokens", startIssuer, &group, waitForIssuer),
            await perform("start a gateway", startGateway, &group, waitForGateway),
            await perform("start directory and page server", startDirectory, &group, waitForDirectory),
            await perform("issue and redeem a token", startTunnel, &group, waitForTunnel),
            await step("a page through the tunnel", readPage)
        else { return false }
        return true
    }

    private func skipExit(_ reason: String) -> Bool {
        exitSkipped.withLock { $0 = reason }
        screen.headline("skipped: a token and a tunnel of the private exit; \(reason)")
        return true
    }

    /// Performs a step that starts processes first.
    private func perform(
        _ name: String,
        _ start: (inout DiscardingTaskGroup) throws -> Void,
        _ group: inout DiscardingTaskGroup,
        _ body: () async throws -> String
    ) async -> Bool {
        let started = ContinuousClock.now
        do {
            try start(&group)
        } catch {
            return fail(name, since: started, error)
        }
        return await step(name, since: started, body)
    }

    private func step(
        _ name: String,
        since started: ContinuousClock.Instant = .now,
        _ body: () async throws -> String
    ) async -> Bool {
        do {
            return finish(name, since: started, ok: true, try await body())
        } catch {
            return fail(name, since: started, error)
        }
    }

    private func fail(_ name: String, since started: ContinuousClock.Instant, _ error: any Error) -> Bool {
        finish(name, since: started, ok: false, CommandFailure(error).message)
    }

    /// Keeps and shows a step that has ended, and returns whether it worked.
    private func finish(_ name: String, since started: ContinuousClock.Instant, ok: Bool, _ detail: String) -> Bool {
        let milliseconds = started.duration(to: .now).milliseconds
        let step = DemoReport.Step(name: name, ok: ok, milliseconds: milliseconds, detail: detail)
        steps.withLock { $0.append(step) }
        screen.show(step)
        return ok
    }

    /// Ends every remaining process, and removes the network namespaces.
    func cleanUp() async {
        await withDiscardingTaskGroup { group in
            for device in devices { group.addTask { await device.endAll() } }
        }
        await exit.spaces.remove()
    }

    /// Prints the standard error of the processes, which helps to find a failure.
    func showLogs() {
        for device in devices {
            let text = try? String(contentsOfFile: device.logPath, encoding: .utf8)  // a log that is not there is empty
            guard let text, !text.isEmpty else { continue }
            Output.note("--- \(device.name)")
            Output.note(text)
        }
    }
}
