import Foundation
import MobileObjects

/// The code of the article *Operations and their parameters*, to be compiled: see `ArticleSampleTests`.
private enum OperationArticleSamples {
    func operations(_ desk: RemedyCU) throws {
        let ticket = HelpDesk_Query_Service(in: desk)
        ticket.company = "Calbro Services"
        try ticket.helpDesk_Submit_Service(header: AuthenticationInfo(userName: "Francie"), assigned_Group: ["Frontoffice", nil], action: "CREATE")
        try ticket.submitPending()

        let renaming = CustomerChangeLastNameOperation(in: desk)
        renaming.oldLastName = "Devlin"
        renaming.newLastName = "Smith"
        try renaming.save()
        try renaming.submitPending()

        try ticket.call("withdraw", ["reason": "they asked"])
    }
}
