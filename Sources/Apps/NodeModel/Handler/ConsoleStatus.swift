/// The state of the web console that serves a node, without its server.
package protocol ConsoleStatus: Sendable {
    /// The address; nil until it serves.
    var currentAddress: String? { get }
    /// The addresses for devices of the local network; nil while it is closed to them.
    var lanAddresses: [String]? { get }
    /// The setting in effect of the console for the local network.
    var lanReport: SettingReport { get }
}
