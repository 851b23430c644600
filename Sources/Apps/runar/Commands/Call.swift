internal import ArgumentParser
internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// Shows which services there are.
struct Services: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "services",
        abstract: "List the services of this device and of all connected peers, with their actions."
    )

    @Argument(help: "The peer whose services are listed; all connected peers without it.")
    var peer: String?
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() -> APIRequest<ServicesReport> {
        Operations.services(ServicesQuery(peer.map { PeerName($0) }, network: network.map { NetworkName($0) }))
    }
}

/// Asks a service something.
struct Call: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Send a request to a service and print the response.",
        discussion: """
            `runar call math/add '{"a": 5, "b": 3}'`; with - the payload is read from standard input. The payload is \
            JSON, so a text needs quotation marks of its own: '"on"'. This device answers if it offers the service; \
            otherwise the providers are asked in turn. --peer chooses the provider.
            """
    )

    @Argument(help: "The service and its action, as in math/add.")
    var path: String
    @Argument(help: "The payload as JSON; - is standard input.")
    var payload: String?
    @Option(help: "Ask only this peer.")
    var peer: String?
    @Option(help: ArgumentHelp("The time limit, as in 30s.", valueName: "duration"))
    var timeout: String?
    @Flag(help: "The request may run twice: if the provider disconnects, another one is asked.")
    var idempotent = false
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() throws -> APIRequest<CalledReport> {
        let path = try TopicArgument(path, network: network)
        guard !path.path.isPattern, path.path.segments.count > 1 else {
            throw CommandFailure(
                "bad-path",
                .usage,
                "\"\(path.path.path)\" is no action: give the service, a slash and one of its actions, as in math/add"
            )
        }
        let form = CallForm(
            path: path.path.path,
            network: path.network?.text,
            base64: Base64.encode(Array(try content())),
            peer: peer,
            timeoutSeconds: try timeout.map { try DurationText.parse($0).seconds },
            idempotent: idempotent
        )
        return Operations.call(form).reading(CalledReport.self)
    }

    private func content() throws -> Data {
        guard let payload else { return Data() }
        let bytes =
            payload == "-"
            ? try InputText.bytes("-", limit: Serve.payloadByteLimit, otherwise: "store it, and send where it is")
            : Array(payload.utf8)
        do {
            _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        } catch {
            throw CommandFailure(
                "bad-payload",
                .usage,
                "the payload is not JSON: put texts in quotation marks of their own, as in '\"on\"'"
            )
        }
        return Data(bytes)
    }
}
