internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import IdentityServer

/// Finds the mistakes of an operator before people do.
struct DiagnoseIdentities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the settings, the names, the certificates and the data of a server.",
        discussion: """
            Takes the options, the variables and the identity.json of `runar identity serve`. Run it on the server's machine, \
            while the server runs: it requests the pages as a browser does, resolves the host of a handle that no account has, \
            and reads the whole database. It changes no account. The exit status is 69 when there is a problem.
            """
    )

    @OptionGroup var options: IdentityOptions

    func run() async throws {
        let doctor = IdentityDoctor(
            try options.configuration(),
            directory: try options.directory,
            probe: try IdentityProbe.system()
        )
        let report = IdentityDoctorReport(await doctor.findings())
        try Output.report(report, asJSON: options.json)
        guard report.healthy else { throw ExitCode(ExitStatus.unavailable.rawValue) }
    }
}
