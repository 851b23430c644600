internal import Testing

@testable internal import Platform

@Suite("What the Keychain asks of a person") struct PersonCheckTests {
    @Test(arguments: [
        (false, false, true, PersonCheck.none), (false, true, true, .none), (false, false, false, .none),
        (true, false, true, .biometrics), (true, true, true, .biometricsOrPassword),
        // Without a sensor a key is still stored; every machine has a password.
        (true, false, false, .missing), (true, true, false, .biometricsOrPassword),
    ])
    func `what is asked follows from the guard and the sensor`(
        requireBiometric: Bool,
        acceptsPassword: Bool,
        hasSensor: Bool,
        check: PersonCheck
    ) {
        let accessControl = AccessControl(requireBiometric: requireBiometric, acceptsPassword: acceptsPassword)
        #expect(PersonCheck(accessControl, hasSensor: hasSensor) == check)
        #expect(check.isRequired == requireBiometric)
    }

    @Test func `the numbers that are stored beside keys stay`() {
        #expect(PersonCheck.allCases.map(\.rawValue) == [0, 1, 2, 3])
        #expect(PersonCheck.allCases == [.none, .biometrics, .biometricsOrPassword, .missing])
    }
}
