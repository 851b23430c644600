internal import Identity
internal import WireGuard

/// A policy rule of a full tunnel.
enum PolicyRule: Equatable, Sendable {
    /// The priority of the first rule, ahead of the system's own (32766).
    static let firstPriority: UInt32 = 10_000
    /// The protocol number in our rules and routes, which reveals those that a killed process left.
    static let protocolNumber: UInt8 = 0x52

    /// Packets without the mark are looked up in a table.
    case unmarkedTo(table: UInt32, mark: UInt32, isIPv6: Bool)
    /// All packets are looked up in the main table, without its default route.
    case mainWithoutDefault(isIPv6: Bool)

    var isIPv6: Bool {
        switch self {
        case .unmarkedTo(_, _, let isIPv6), .mainWithoutDefault(let isIPv6): isIPv6
        }
    }
}

/// One change of the kernel's network configuration, which can be undone.
enum NetworkChange: Equatable, Sendable {
    /// The MTU of the interface, its mark as ours, and its state "up".
    case link(mtu: Int)
    case address(InterfaceAddress)
    /// A route into the interface; nil is the main table.
    case route(AddressPrefix, table: UInt32?)
    case rule(PolicyRule, priority: UInt32)

    /// Whether the change needs IPv6.
    var isIPv6: Bool {
        switch self {
        case .link: false
        case .address(let address): address.address.isIPv6
        case .route(let prefix, _): prefix.address.isIPv6
        case .rule(let rule, _): rule.isIPv6
        }
    }

    /// The change as the object of "the kernel refused to".
    var text: String {
        switch self {
        case .link(let mtu): "set the MTU \(mtu) and enable the interface"
        case .address(let address): "add the address \(address)"
        case .route(let prefix, let table): "add the route \(prefix) to the table \(table.map { "\($0)" } ?? "main")"
        case .rule(_, let priority): "add the \(isIPv6 ? "IPv6" : "IPv4") rule of priority \(priority)"
        }
    }

    /// The request that makes the change for an interface, or nil for one that only undoing would need.
    func message(interface index: UInt32, mark: InterfaceMark) -> NetlinkMessage {
        switch self {
        case .link(let mtu):
            var message = Self.linkMessage(.newLink, index, flags: Self.up)
            message.add(Self.linkMTU, UInt32(truncatingIfNeeded: mtu))
            message.add(Self.linkAlias, text: mark.text)
            return message
        case .address(let address): return Self.message(.newAddress, address, index)
        case .route(let prefix, let table): return Self.message(.newRoute, prefix, table, index)
        case .rule(let rule, let priority): return Self.message(.newRule, rule, priority)
        }
    }

    /// The request that undoes the change; the state of the link remains, because the interface goes with its device.
    func removal(interface index: UInt32) -> NetlinkMessage? {
        switch self {
        case .link: nil
        case .address(let address): Self.message(.deleteAddress, address, index)
        case .route(let prefix, let table): Self.message(.deleteRoute, prefix, table, index)
        case .rule(let rule, let priority): Self.message(.deleteRule, rule, priority)
        }
    }
}

/// The layouts of the kernel's `if_link.h`, `if_addr.h`, `rtnetlink.h` and `fib_rules.h`.
extension NetworkChange {
    static let up: UInt32 = 1
    static let linkName: UInt16 = 3
    static let linkMTU: UInt16 = 4
    static let linkInformation: UInt16 = 18
    static let linkAlias: UInt16 = 20
    static let linkFixedLength = 16
    static let ruleFixedLength = 12
    static let rulePriority: UInt16 = 6
    static let ruleTable: UInt16 = 15
    static let ruleProtocol: UInt16 = 21
    private static let mainTable: UInt32 = 254
    private static let toTable: UInt8 = 1
    private static let isInverted: UInt32 = 2

    static func family(isIPv6: Bool) -> UInt8 { isIPv6 ? 10 : 2 }

    static func linkMessage(_ kind: NetlinkMessage.Kind, _ index: UInt32, flags: UInt32 = 0) -> NetlinkMessage {
        let numbers: [UInt32] = [0, index, flags, flags]
        return NetlinkMessage(kind, flags: 0, fixed: numbers.flatMap { NetlinkMessage.bytes($0) })
    }

    private static func message(
        _ kind: NetlinkMessage.Kind,
        _ address: InterfaceAddress,
        _ index: UInt32
    ) -> NetlinkMessage {
        let isIPv6 = address.address.isIPv6
        let length = UInt8(truncatingIfNeeded: address.prefixLength)
        // Without duplicate address detection, which a tunnel has no peers for.
        let noDetection: UInt8 = isIPv6 ? 0x02 : 0
        let fixed = [family(isIPv6: isIPv6), length, noDetection, 0] + NetlinkMessage.bytes(index)
        let flags = kind == .newAddress ? NetlinkMessage.create | NetlinkMessage.exclusive : 0
        var message = NetlinkMessage(kind, flags: flags, fixed: fixed)
        // The local address, and that of the other end, which is the same here.
        message.add(2, address.address.bytes)
        message.add(1, address.address.bytes)
        return message
    }

    private static func message(
        _ kind: NetlinkMessage.Kind,
        _ prefix: AddressPrefix,
        _ table: UInt32?,
        _ index: UInt32
    ) -> NetlinkMessage {
        let isIPv6 = prefix.address.isIPv6
        let length = UInt8(truncatingIfNeeded: prefix.length)
        // A unicast route of our protocol number, with the scope "link" in IPv4.
        var fixed = [family(isIPv6: isIPv6), length, 0, 0, 0, PolicyRule.protocolNumber, isIPv6 ? 0 : 253, 1]
        fixed += NetlinkMessage.bytes(UInt32(0))
        let flags = kind == .newRoute ? NetlinkMessage.create | NetlinkMessage.exclusive : 0
        var message = NetlinkMessage(kind, flags: flags, fixed: fixed)
        if prefix.length > 0 { message.add(1, prefix.address.bytes) }
        message.add(4, index)
        message.add(15, table ?? mainTable)
        return message
    }

    private static func message(
        _ kind: NetlinkMessage.Kind,
        _ rule: PolicyRule,
        _ priority: UInt32
    ) -> NetlinkMessage {
        let flags = kind == .newRule ? NetlinkMessage.create | NetlinkMessage.exclusive : 0
        let family = family(isIPv6: rule.isIPv6)
        let inversion: UInt32 = if case .unmarkedTo = rule { isInverted } else { 0 }
        let fixed = [family, 0, 0, 0, 0, 0, 0, toTable] + NetlinkMessage.bytes(inversion)
        var message = NetlinkMessage(kind, flags: flags, fixed: fixed)
        message.add(rulePriority, priority)
        message.add(ruleProtocol, [PolicyRule.protocolNumber])
        switch rule {
        case .unmarkedTo(let table, let mark, _):
            message.add(10, mark)
            message.add(16, UInt32.max)
            message.add(ruleTable, table)
        case .mainWithoutDefault:
            message.add(14, UInt32(0))
            message.add(ruleTable, mainTable)
        }
        return message
    }
}
