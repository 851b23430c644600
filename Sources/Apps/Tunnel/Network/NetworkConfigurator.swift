internal import Concurrency
internal import Libc
internal import Platform

/// Sets addresses, routes and rules by rtnetlink, in the network namespace of the thread that created it.
///
/// Each change that was made is undone by ``remove()``, also after a failure in the middle. Changes of IPv6 are left out
/// where the system has no IPv6; the reason is in ``Outcome/skipped``.
package final class NetworkConfigurator: Sendable {
    /// A change that was left out.
    package struct Skipped: Equatable, Sendable {
        package let change: String
        package let reason: String
    }

    /// The result of ``apply(_:)``.
    package struct Outcome: Equatable, Sendable {
        package var skipped: [Skipped] = []
    }

    private struct State {
        var index: UInt32 = 0
        var made: [NetworkChange] = []
    }

    /// The error numbers of a system without IPv6, and of an interface on which it is disabled.
    private static let missing: Set<Int32> = [EOPNOTSUPP, EAFNOSUPPORT, EACCES, EPFNOSUPPORT]
    /// The error numbers of objects that do not exist.
    private static let absent: Set<Int32> = [ENOENT, ESRCH, ENODEV, EADDRNOTAVAIL, EAFNOSUPPORT, EOPNOTSUPP]

    private let socket: NetlinkSocket
    private let mark = InterfaceMark()
    private let state = Locked(State())

    package init() throws(TunnelError) { socket = try NetlinkSocket() }

    /// Makes the changes of a network in order; undoes all of them if one is refused.
    package func apply(_ network: TunnelNetwork) throws(TunnelError) -> Outcome {
        guard let link = try link(named: network.interface) else {
            throw .networkRefused(change: "find the interface \(network.interface)", code: ENODEV)
        }
        state.withLock { $0.index = link.index }
        var outcome = Outcome()
        for change in network.changes {
            if change.isIPv6, let reason = outcome.skipped.first?.reason {
                outcome.skipped.append(Skipped(change: change.text, reason: reason))
                continue
            }
            do {
                try socket.request(change.message(interface: link.index, mark: mark))
                state.withLock { $0.made.append(change) }
            } catch {
                guard change.isIPv6, Self.missing.contains(error.code) else {
                    remove()
                    throw .networkRefused(change: change.text, code: error.code)
                }
                let reason = "no IPv6: \(SystemErrors.text(of: error.code))"
                outcome.skipped.append(Skipped(change: change.text, reason: reason))
            }
        }
        return outcome
    }

    /// Sets the MTU of the interface whose network was applied.
    package func setMTU(_ mtu: Int) throws(TunnelError) {
        let change = NetworkChange.link(mtu: mtu)
        let index = state.withLock { $0.index }
        try request(change.message(interface: index, mark: mark), change.text)
    }

    /// Undoes all changes, the last one first; those that no longer exist are passed over.
    package func remove() {
        let (index, made) = state.withLock { state in
            defer { state.made = [] }
            return (state.index, state.made)
        }
        for change in made.reversed() {
            guard let message = change.removal(interface: index) else { continue }
            _ = try? socket.request(message)  // the interface, and with it the address or route, may no longer exist
        }
    }

    /// Removes the interface of this name and the rules for `table` that a killed process left; returns their number.
    ///
    /// An interface of a living process, or of another program, is kept.
    @discardableResult
    package func removeLeftovers(interface: String, table: UInt32?) throws(TunnelError) -> Int {
        var count = 0
        if let link = try link(named: interface), let mark = link.mark, mark != self.mark, !mark.isAlive {
            try request(NetworkChange.linkMessage(.deleteLink, link.index), "remove the interface \(interface)")
            count += 1
        }
        guard let table else { return count }
        for isIPv6 in [false, true] { count += try removeRules(table, isIPv6: isIPv6) }
        return count
    }

    private func removeRules(_ table: UInt32, isIPv6: Bool) throws(TunnelError) -> Int {
        let fixed = [NetworkChange.family(isIPv6: isIPv6)] + [UInt8](repeating: 0, count: 11)
        let dump = NetlinkMessage(.getRule, flags: NetlinkMessage.dump, fixed: fixed)
        let rules = try request(dump, "list the rules", unless: Self.absent)
        let ours = rules.filter { rule in
            rule.attributes(after: NetworkChange.ruleFixedLength)[NetworkChange.ruleProtocol]?.first
                == PolicyRule.protocolNumber
        }
        let tables = ours.map { rule in
            NetlinkMessage.word(rule.attributes(after: NetworkChange.ruleFixedLength)[NetworkChange.ruleTable] ?? [])
        }
        // The second rule of a pair leads to the main table. One namespace has at most one full tunnel, so that all of
        // our rules are leftovers if one is.
        guard tables.contains(table) else { return 0 }
        for rule in ours {
            var removal = NetlinkMessage(.deleteRule, flags: 0, fixed: [])
            removal.body = rule.body
            try request(removal, "remove a rule", unless: Self.absent)
        }
        return ours.count
    }

    /// An interface of the kernel.
    private struct Link {
        var index: UInt32
        var mark: InterfaceMark?
    }

    private func link(named name: String) throws(TunnelError) -> Link? {
        var message = NetworkChange.linkMessage(.getLink, 0)
        message.add(NetworkChange.linkName, text: name)
        guard let answer = try request(message, "find the interface \(name)", unless: [ENODEV]).first else {
            return nil
        }
        guard answer.body.count >= NetworkChange.linkFixedLength else { return nil }
        let alias = answer.attributes(after: NetworkChange.linkFixedLength)[NetworkChange.linkAlias]
        let text = alias.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return Link(index: NetlinkMessage.word(answer.body[4...]), mark: text.flatMap(InterfaceMark.init))
    }

    @discardableResult
    private func request(
        _ message: NetlinkMessage,
        _ change: String,
        unless ignored: Set<Int32> = []
    ) throws(TunnelError) -> [NetlinkMessage] {
        do {
            return try socket.request(message)
        } catch {
            guard ignored.contains(error.code) else { throw .networkRefused(change: change, code: error.code) }
            return []
        }
    }
}
