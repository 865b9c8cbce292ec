"""Sixty themes in families, as a model would have inferred them, and some that say again what others say."""

from __future__ import annotations

from envscaler.draft.inferring import name_of
from envscaler.draft.themes import Origin, Theme

_TABLE = """
Public Library Lending | members, books, copies and loans | copies are lent, renewed and returned, and holds are queued | no member keeps more than ten copies
University Library Reserves | courses, reserve items and reading rooms | items are put on reserve for courses and lent for hours | a reserve item never leaves overnight
Archive Reading Room | boxes, readers, visits and requests | boxes are fetched for readers and put back | a closed box is read by nobody
Toy Library | families, toys, parts and loans | toys are lent to families and parts are counted on return | a toy with a missing part is not lent
Hospital Ward Beds | wards, beds, patients and stays | patients are admitted, moved between beds and discharged | a bed holds one patient
Dental Practice Appointments | dentists, patients, slots and treatments | appointments are booked, moved and cancelled | a dentist treats one patient at a time
Vaccination Centre | vaccines, batches, people and doses | doses are given from batches and second doses are planned | an expired batch is not used
Blood Bank | donors, donations, units and orders | units are stored, reserved for hospitals and issued | only matching blood groups are issued
Optician's Shop | customers, prescriptions, frames and orders | prescriptions are renewed and glasses ordered | no order without a valid prescription
Veterinary Clinic | owners, animals, visits and vaccinations | visits are booked and vaccinations recorded | an animal has one owner
Pharmacy Refills | patients, prescriptions, medicines and refills | refills are asked for, filled and collected | no more refills than were prescribed
Physiotherapy Courses | therapists, patients, courses and sessions | courses of sessions are planned and sessions ticked off | no more sessions than the insurer allows
Retail Bank Accounts | customers, accounts, cards and postings | money is moved, cards are blocked and orders stand | no account below its limit
Credit Union Loans | members, loans, instalments and guarantees | loans are applied for, paid out and repaid | a guarantor stands for two loans at most
Pension Fund | members, contributions, portfolios and payouts | contributions are booked and portfolios switched | shares of a portfolio add up to a hundred
Insurance Claims Desk | policies, claims, damages and payments | claims are filed, assessed and settled | nothing is paid above the sum insured
Expense Reimbursement | employees, trips, receipts and reports | reports are handed in, approved and paid | nobody approves a report of their own
Invoice Approval | suppliers, invoices, cost centres and approvals | invoices are matched with orders and released | large invoices need two approvals
Online Shop Orders | customers, products, carts and orders | orders are placed, changed, shipped and returned | an order that was shipped is not changed
Warehouse Stock | sites, bins, articles and movements | articles are received, moved, picked and counted | a bin holds no more than fits
Returns Centre | parcels, inspections, refunds and restocks | returned goods are inspected, refunded or refused | a refund is given once
Auction House | sellers, lots, bidders and bids | lots are listed, bid on and knocked down | a bid tops the last by a step
Second-Hand Bookshop | shelves, titles, offers and sales | used titles are bought in, priced and sold | no title is sold twice
Flower Subscription | subscribers, bouquets, rounds and pauses | rounds are planned and deliveries paused | a pause is asked for two days ahead
Hotel Reservations | hotels, rooms, guests and stays | rooms are reserved, changed and checked in | a room is let once a night
Camping Ground | pitches, guests, bookings and extras | pitches are booked and power is added | a pitch takes its number of tents
Holiday Flat Rental | flats, owners, tenants and bookings | flats are let by the week and deposits returned | owners block weeks before they are booked
Conference Room Booking | buildings, rooms, equipment and meetings | rooms are booked with equipment and catering | a meeting fits its room
Restaurant Tables | tables, guests, sittings and waiting lists | tables are reserved and joined for parties | a table has one party per sitting
Canteen Pre-orders | menus, employees, meals and credits | meals are ordered ahead and credits spent | no order after ten in the morning
Airline Check-in | flights, passengers, seats and bags | passengers are checked in and seats swapped | exits are for adults
Airport Gate Planning | gates, stands, aircraft and turnarounds | gates are given and swapped when flights are late | two aircraft never share a stand
Railway Seat Tickets | trains, coaches, seats and tickets | seats are sold, exchanged and refunded | a seat is sold once between two stops
City Bus Passes | riders, passes, zones and lines | passes are bought and extended to zones | one pass a rider at a time
Bicycle Sharing | stations, bicycles, riders and rides | bicycles are taken and brought back | a broken bicycle is not taken
Car Rental Desk | cars, branches, drivers and rentals | cars are rented, extended and handed in elsewhere | drivers hold a licence for the class
Parking Garage | levels, bays, permits and tickets | tickets are drawn, paid and validated | permits are for one number plate
Ferry Crossings | ferries, decks, vehicles and crossings | vehicles are booked on decks by length | the deck is never longer than it is
Taxi Dispatch | drivers, cabs, rides and shifts | rides are given to the nearest free cab | a driver drives ten hours a shift
Courier Parcels | senders, parcels, depots and rounds | parcels are collected, sorted and delivered | a parcel is in one place
School Timetable | classes, teachers, rooms and lessons | lessons are placed, moved and substituted | a teacher teaches one lesson at a time
Course Enrolment | students, courses, seats and grades | students enrol, wait and drop | prerequisites are passed before
Exam Office | exams, candidates, halls and marks | candidates are registered and seated | neighbours sit different exams
Driving School | instructors, pupils, cars and lessons | lessons are driven and tests are booked | a test after thirty lessons
Music School | teachers, pupils, instruments and recitals | instruments are hired and recitals planned | an instrument is hired by one pupil
Child Care Centre | groups, children, carers and days | days are booked and children are picked up | a carer looks after six children
Help Desk Tickets | customers, tickets, agents and queues | tickets are opened, assigned, escalated and closed | an urgent ticket has an agent
Server Inventory | racks, servers, addresses and services | servers are racked, given addresses and retired | an address is given once
Software Releases | projects, issues, builds and releases | issues are fixed and releases cut | no release with a blocking issue
Access Badges | doors, badges, people and zones | badges are issued, blocked and given zones | a lost badge opens nothing
Laboratory Samples | samples, tests, freezers and results | samples are stored, tested and discarded | a result is signed by another
Machine Maintenance | machines, parts, orders and crews | orders are planned and parts are used | a locked machine is not started
Farm Fields | fields, crops, treatments and harvests | crops are sown, treated and brought in | a field rests after three crops
Beehive Records | apiaries, hives, queens and inspections | hives are inspected, split and moved | a hive has one queen
Animal Shelter | animals, kennels, adopters and adoptions | animals are taken in and adopted | an animal is adopted after a visit
Theatre Box Office | shows, seats, patrons and bookings | seats are held, sold and given back | a held seat lapses after a day
Sports Club Courts | members, courts, hours and teams | courts are booked by the hour | two bookings a week for each member
Swimming Pool Courses | pools, lanes, courses and swimmers | lanes are given to courses and swimmers placed | a lane takes eight swimmers
Permit Office | applicants, permits, documents and fees | permits are applied for, examined and granted | no permit before the fee is paid
Court Registry | cases, parties, hearings and filings | filings are lodged and hearings set | a judge sits in one hearing at a time
"""


def theme(title: str, things: str, doing: str, rule: str, line: int = 1, **scores: int) -> Theme:
    summary = f"Where {doing}."
    introduction = f"The {title.lower()} holds {things}. There {doing}. A rule that no change may break: {rule}."
    score = {"usefulness": 5 + line * 7 % 6, "modelability": 5 + line * 5 % 6, **scores}
    origin = Origin(file="tasks.json", line=line, source="api-bank")
    return Theme(
        name=name_of(title), title=title, summary=summary, introduction=introduction, task=title, origin=origin, **score
    )


SIXTY = [
    theme(*(part.strip() for part in row.split("|")), line=line)
    for line, row in enumerate(_TABLE.strip().splitlines(), 1)
]

AGAIN = [
    theme("City Library", "members, books, copies and loans", "copies are lent to members, returned and renewed, and holds wait in a queue", "a member keeps ten copies at most", 101),
    theme("Dentist Booking", "dentists, patients, treatments and slots", "appointments with dentists are booked, cancelled and moved", "one patient at a time for each dentist", 102),
    theme("Hotel Room Booking", "hotels, guests, rooms and stays", "rooms are reserved and changed, and guests check in", "one guest a night for a room", 103),
    theme("Support Tickets", "tickets, customers, agents and queues", "tickets are opened, escalated, assigned to agents and closed", "every urgent ticket has an agent", 104),
]  # fmt: skip
"""Themes near the first, sixth, 25th and 47th of the sixty."""
