#if canImport(Darwin)
#if os(macOS)
internal import Foundation
internal import SystemConfiguration
#endif

extension NetworkInterface {
    /// The kind of line behind the interface.
    package var kind: InterfaceKind {
        if isLoopback { return .loopback }
        if name.hasPrefix("pdp_ip") { return .cellular }
        return Self.isWiFi(name) ? .wiFi : .other
    }

    /// The facts that follow from the name: `en` is Wi-Fi or a cable, the others exist in this machine only.
    var facts: InterfaceFacts { InterfaceFacts(isPhysical: name.hasPrefix("en")) }

    #if os(macOS)
    /// A Mac has Wi-Fi under any name, and the system's preferences know which.
    private static func isWiFi(_ name: String) -> Bool {
        let interfaces = SCNetworkInterfaceCopyAll() as? [SCNetworkInterface] ?? []
        return interfaces.contains {
            SCNetworkInterfaceGetBSDName($0) as String? == name
                && SCNetworkInterfaceGetInterfaceType($0) == kSCNetworkInterfaceTypeIEEE80211
        }
    }
    #else
    /// On an iPhone or iPad it is always the first one.
    private static func isWiFi(_ name: String) -> Bool { name == "en0" }
    #endif
}
#endif
