/** Stands where only a deployment has something: the package `agents` asks for it and the bench sends no mail. */
export class EmailMessage {}
